"""The model page: every section says what its file says, is absent with it, and never shows a text as HTML."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from model.checkpoint import write_manifest
from model.config import PRESETS
from model.decoding.cost import count_parameters
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.pages.any_model import opened as opened_model
from tests.viz.sent import sent_to, unlinked
from viz.pages.model_card.sections import draw
from viz.selection.catalogue import ROOT_VARIABLE

ALL = ["Overview", "Masks, positions and cost", "Data and training", "Scores", "Card"]


def opened(root: Path, monkeypatch: pytest.MonkeyPatch, **params: str) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    app = run_page(app_of(**params), "model_card")
    assert not app.exception
    assert [element.value for element in app.title] == ["Model"]
    # No text of a checkpoint becomes HTML or Markdown.
    for element in (*app.html, *app.markdown, *app.caption, *app.subheader):
        assert "<img" not in element.value
        assert element in app.html or "![x](" not in element.value
    return app


def sections(app: AppTest) -> list[str]:
    """The sections below one another, which are those of the contents."""
    ((header, _),) = sent_to(app, "contents")
    labels = [element.value for element in app.subheader]
    assert header["sections"] == labels
    return labels


def unfolded(app: AppTest, key: str) -> AppTest:
    """What an expander shows, which computes nothing before it is opened."""
    app.session_state[key] = True
    return healthy(app.run())


def html(app: AppTest) -> str:
    return " ".join(element.value for element in app.html).replace("<wbr>", "")


def chart(app: AppTest, number: int) -> dict[str, Any]:
    return json.loads(app.get("plotly_chart")[number].proto.spec)


@pytest.fixture
def copy(recorded_checkpoints: Path, tmp_path: Path) -> Path:
    """A folder of checkpoints that a test may damage."""
    shutil.copytree(recorded_checkpoints, tmp_path / "root")
    return tmp_path / "root"


def test_the_page_has_the_shape_the_records_the_scores_and_the_card(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch))
    assert sections(app) == ALL
    for name in ("base", "big"):
        assert f"{count_parameters(PRESETS[name]).total:,}" in html(app)
    for cell in (
        "d_model", "invented", "1,200", "1.5", "copied", "1,234", "linear", "12.3", "40.0", "15.0", "1,000",
        "right · new sentence frames", "0.91", "L1 H2", "41.02", "github.com/LividWo/Revisit-MMT, README-baseline.md",
        "no key after the query (causal)",
    ):  # fmt: skip
        assert f">{cell}<" in html(app), cell
    assert [trace["name"] for trace in chart(app, 1)["data"]] == ["loss", "learning rate", "a", "&lt;b&gt;"]
    assert any("first 20 pairs" in unlinked(caption.value) for caption in app.caption)
    texts = [element.value for element in app.text]
    assert texts[0].startswith("![x](")
    # What the card says below its heading, up to the next one.
    assert texts[-2:] == ["Random words, no sense.", texts[0]]
    assert len(texts) == 3
    code = "\n".join(element.value for element in app.code)
    assert "python -m model evaluate --data a.tsv --beam 4 --json" in code
    assert "python -m model pronouns --json" in code
    assert "# tiny" in code
    # What one step costs is told in its lesson.
    app.button(key="cost-of-steps").click().run()
    assert app.session_state["selection"].learn.lesson == "decoding"
    assert app.session_state["selection"].learn.explore


def test_the_vocabulary_is_searched(recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = unfolded(opened(recorded_checkpoints, monkeypatch), "card-vocabulary")
    assert len(app.dataframe[0].value) == 370
    assert list(app.dataframe[0].value["Kind"][:5]) == ["special"] * 4 + ["byte"]
    assert [button.proto.label for button in app.get("download_button")] == ["Tokens (CSV)"]
    healthy(app.text_input(key="wanted").set_value("~").run())
    # The vocabulary of the tests has no piece "~", but the byte that is this character.
    assert [list(app.dataframe[0].value[column]) for column in ("Token", "Kind")] == [["~"], ["byte"]]
    healthy(app.text_input(key="wanted").set_value("no such piece").run())
    assert not app.dataframe
    assert "No token" in unlinked(app.info[0].value)


def test_the_scores_of_the_checkpoint_that_ships_are_all_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(ROOT / "checkpoints", monkeypatch))
    labels = [each.value.replace("\\", "") for each in app.markdown]
    assert any(
        "- Coreference · Headlight's curated pairs: accuracy of the best head 0." in label for label in labels
    ), labels
    assert "L5 H8" in html(app)
    assert "Multi30k captions, dev set" in html(app)
    assert "_dev" not in "".join((html(app), *labels)), "sets have names, not those of their files"
    assert not translated(app), "twenty sentences are translated when someone asks for them"


def translated(app: AppTest) -> list[str]:
    return [element.value for element in app.html if "German, by this model" in element.value]


def test_twenty_sentences_are_translated_and_another_twenty_on_demand(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = unfolded(opened(recorded_checkpoints, monkeypatch, seed="7"), "card-twenty")
    (shown,) = translated(app)
    assert shown.count("<tr>") == 21
    assert all(sentence.replace("'", "&#x27;") in shown for sentence in draw(7))
    assert app.number_input(key="example_seed").value == 7
    healthy(next(button for button in app.button if button.label == "Another twenty").click().run())
    assert app.query_params["seed"] == "8"
    assert translated(app) != [shown]


@pytest.mark.parametrize(
    ("name", "positions", "keys"),
    [
        ("gpt2", "Learned positions.", "no key after the query (causal)"),
        ("bert", "Learned positions.", "every key"),
        ("t5", "Relative position biases.", "every key"),
        ("mpnet", "Learned positions.", "every key"),
    ],
)
def test_the_masks_and_positions_of_a_model_from_elsewhere_are_its_own(
    any_model: AppTest, name: str, positions: str, keys: str
) -> None:
    app = healthy(opened_model(any_model, name, "model_card"))
    assert sections(app) == ALL[:2]
    assert any(positions in unlinked(one.value) for one in app.markdown)
    assert f">{keys}<" in html(app)


@pytest.mark.parametrize("name", ["training.json", "training_log.jsonl", "metrics.json"])
def test_a_malformed_file_is_named_and_the_rest_lives(copy: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (copy / "en-de" / name).write_text("{]", encoding="utf-8")
    write_manifest(copy / "en-de")
    app = opened(copy, monkeypatch)
    (error,) = app.error
    assert name.replace("_", "\\_").replace(".", "\\.") in error.value
    assert sections(app) == ALL
