"""The model page: every tab says what its file says, lives where a file is absent, and never shows a text as HTML."""

import json
import shutil
from pathlib import Path
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from model.checkpoint import write_manifest
from model.config import PRESETS
from model.decoding.cost import count_parameters
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, run_page
from viz.pages.model_card.tabs import draw
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelCardTab

FILES = {"Data and training": "training.json", "Scores": "metrics.json", "Card": "README.md"}


def opened(root: Path, monkeypatch: pytest.MonkeyPatch, tab: str = "Overview", **params: str) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    app = run_page(app_of(**{"about": tab, **params}), "model_card")
    assert [element.value for element in app.title] == ["Model"]
    assert app.query_params.get("about", "Overview") == (tab if tab in get_args(ModelCardTab) else "Overview")
    # No text of a checkpoint becomes HTML or Markdown.
    for element in (*app.html, *app.markdown, *app.caption, *app.subheader):
        assert "<img" not in element.value
        assert element in app.html or "![x](" not in element.value
    return app


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


# ---- what stands on the page ----


def test_the_page_opens_on_shape_and_bars(recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch, "Overview"))
    assert "d_model" in html(app)
    for name in ("base", "big"):
        assert f"{count_parameters(PRESETS[name]).total:,}" in html(app)
    assert len(chart(app, 0)["data"]) == 2 * 7
    # The vocabulary is searched.
    unfolded(app, "card-vocabulary")
    assert len(app.dataframe[0].value) == 370
    assert list(app.dataframe[0].value["Kind"][:5]) == ["special"] * 4 + ["byte"]
    assert [button.proto.label for button in app.get("download_button")] == ["Tokens (CSV)"]
    healthy(app.text_input(key="wanted").set_value("~").run())
    # The vocabulary of the tests has no piece "~", but the byte that is this character.
    assert [list(app.dataframe[0].value[column]) for column in ("Token", "Kind")] == [["~"], ["byte"]]
    healthy(app.text_input(key="wanted").set_value("no such piece").run())
    assert not app.dataframe
    assert "No token" in app.info[0].value


def test_training_data_are_listed_with_their_sum_and_curves_say_how_many_pairs_were_scored(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch, "Data and training"))
    for cell in ("invented", "1,200", "1.5", "copied", "1,234", "linear"):
        assert f">{cell}<" in html(app)
    assert app.text[0].value.startswith("![x](")
    assert any("first 20 pairs" in caption.value for caption in app.caption)
    traces = chart(app, 0)["data"]
    assert [trace["name"] for trace in traces] == ["loss", "learning rate", "a", "&lt;b&gt;"]


def test_scores_stand_beside_their_commands_and_the_published_ones(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch, "Scores"))
    for cell in (
        "12.3",
        "40.0",
        "15.0",
        "1,000",
        "right · frames",
        "0.91",
        "L1 H2",
        "0.5",
        "41.02",
        "27.3",
        "28.4",
        "24.38",
        "github.com/LividWo/Revisit-MMT, README-baseline.md",
        "github.com/joeynmt/joeynmt, docs/source/benchmarks.rst",
    ):
        assert f">{cell}<" in html(app)
    assert "python -m model evaluate --data a.tsv --beam 4 --json" in app.code[0].value
    assert "python -m model pronouns --json" in app.code[1].value


def test_the_scores_of_the_checkpoint_that_ships_are_all_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(ROOT / "checkpoints", monkeypatch, "Scores"))
    labels = [each.label.replace("\\", "") for each in app.expander]
    measured = "Coreference · our curated pairs: accuracy of the best head 0."
    assert any(label.startswith(measured) for label in labels), labels
    assert "Published results of other models" in labels
    assert "L5 H8" in html(app)
    assert "Multi30k captions, dev set" in html(app)
    assert "_dev" not in "".join((html(app), *labels)), "sets have names, not those of their files"
    assert not translated(app), "twenty sentences are translated when someone asks for them"


def translated(app: AppTest) -> list[str]:
    return [element.value for element in app.html if "German, by this model" in element.value]


def translations(app: AppTest) -> str:
    return translated(app)[0]


def test_twenty_sentences_are_translated_and_another_twenty_on_demand(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = unfolded(healthy(opened(recorded_checkpoints, monkeypatch, "Scores", seed="7")), "card-twenty")
    shown = translations(app)
    assert shown.count("<tr>") == 21
    assert all(sentence.replace("'", "&#x27;") in shown for sentence in draw(7))
    assert app.number_input(key="example_seed").value == 7
    healthy(next(button for button in app.button if button.label == "Another twenty").click().run())
    assert app.query_params["seed"] == "8"
    assert translations(app) != shown


def test_the_card_begins_with_what_to_expect(recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch, "Card"))
    assert [element.value for element in app.subheader] == ["What to expect"]
    assert app.text[0].value == "Random words, no sense."
    assert app.code[0].value.startswith("# tiny")


def test_a_card_without_that_section_is_shown_whole(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(tiny_checkpoints, monkeypatch, "Card"))
    assert not app.subheader
    assert app.code[0].value == "Random weights, for tests."


# ---- absent, malformed, hostile ----


@pytest.mark.parametrize(("tab", "name"), FILES.items())
def test_an_absent_file_is_said_in_a_sentence(copy: Path, monkeypatch: pytest.MonkeyPatch, tab: str, name: str) -> None:
    (copy / "en-de" / name).unlink()
    write_manifest(copy / "en-de")
    app = healthy(opened(copy, monkeypatch, tab))
    assert f"`{name}`" in app.info[0].value


@pytest.mark.parametrize(("tab", "name"), [item for item in FILES.items() if item[1] != "README.md"])
def test_a_malformed_file_is_named_and_the_rest_lives(
    copy: Path, monkeypatch: pytest.MonkeyPatch, tab: str, name: str
) -> None:
    (copy / "en-de" / name).write_text("{]", encoding="utf-8")
    write_manifest(copy / "en-de")
    app = opened(copy, monkeypatch, tab)
    assert not app.exception
    (error,) = app.error
    assert name.replace("_", "\\_").replace(".", "\\.") in error.value
    assert [tab.label for tab in app.tabs] == list(get_args(ModelCardTab))


def test_curves_are_drawn_although_the_training_data_are_malformed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (copy / "en-de" / "training.json").write_text("[]", encoding="utf-8")
    write_manifest(copy / "en-de")
    app = opened(copy, monkeypatch, "Data and training")
    assert not app.exception
    assert len(app.error) == 1
    assert len(chart(app, 0)["data"]) == 4


def test_a_file_that_the_manifest_does_not_list_is_not_believed(
    tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    (tmp_path / "en-de" / "training.json").write_text("{}", encoding="utf-8")
    app = opened(tmp_path, monkeypatch, "Data and training")
    assert "manifest" in app.error[0].value


def test_wrong_parameters_become_defaults(recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = healthy(opened(recorded_checkpoints, monkeypatch, "No such tab", seed="-1"))
    assert dict(app.query_params) == {}
    # A sentence that would be refused elsewhere does no harm.
    healthy(opened(recorded_checkpoints, monkeypatch, text=" "))
