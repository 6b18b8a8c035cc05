"""Follow one token: what a person sees of the path, its steps, the norms, the neighbours and the sums."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import charts, sent_to
from viz.selection.catalogue import ROOT_VARIABLE

TAB = {"learn": "Follow one token"}
SHIPPED = ROOT / "checkpoints"


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(**TAB)


def badges(app: AppTest) -> str:
    return " ".join(one.value for one in app.markdown if "badge" in one.value)


def test_it_opens_on_the_pronoun_with_parts_that_add_up(app: AppTest) -> None:
    opened(app, "learn")
    ((line, _),) = sent_to(app, "token_line")
    assert [row["stack"] for row in line["lines"]] == ["encoder", "decoder"]
    assert line["stack"] == "encoder"
    ((path, (values,)),) = sent_to(app, "token_path")
    assert path["stages"] == ["Input", "Layer 1", "Layer 2", "Output"]
    assert path["stage"] in (1, 2)
    assert sum(row["count"] for row in path["rows"]) == len(values)
    assert "green" in badges(app)
    assert "the contributions add up" in badges(app)


def test_the_sum_of_a_residual_connection_is_what_came_in_and_what_was_added(app: AppTest) -> None:
    opened(app, "learn", stage=2)
    ((path, (values,)),) = sent_to(app, "token_path")
    ends = np.cumsum([row["count"] for row in path["rows"]])
    vectors = {
        (row["title"], number): values[end - row["count"] : end]
        for number, (row, end) in enumerate(zip(path["rows"], ends, strict=True))
    }
    added = next(vector for (title, _), vector in vectors.items() if title == "What feed-forward adds")
    first, second = (vector for (title, _), vector in vectors.items() if title == "Residual connection: the sum")
    np.testing.assert_allclose(first + added, second, atol=1e-5)


def test_the_hidden_units_say_how_many_fire_and_which_are_strongest(app: AppTest) -> None:
    opened(app, "learn", stage=2)
    ((path, (values,)),) = sent_to(app, "token_path")
    ends = np.cumsum([row["count"] for row in path["rows"]])
    ((row, end),) = (
        (row, end) for row, end in zip(path["rows"], ends, strict=True) if row["title"].startswith("Hidden units")
    )
    hidden = values[end - row["count"] : end]
    firing = int((hidden > 0).sum())
    assert row["title"] == f"Hidden units: {firing} of {len(hidden)} are active"
    assert row["text"].startswith(f"{100 * firing / len(hidden):.1f}\N{NO-BREAK SPACE}% are above 0.")
    assert [bar["label"] for bar in row["bars"]] == [f"#{unit}" for unit in np.argsort(-hidden)[: len(row["bars"])]]


def test_the_input_is_embedding_plus_position(app: AppTest) -> None:
    opened(app, "learn", stage=0, follow="encoder", follow_token=3)
    ((path, (values,)),) = sent_to(app, "token_path")
    embedding, position, begin = values.reshape(3, -1)
    np.testing.assert_allclose(embedding + position, begin, atol=1e-5)
    assert "Position 4" in [row["title"] for row in path["rows"]]


def test_a_position_of_the_decoder_has_cross_attention_and_ends_in_logits(app: AppTest) -> None:
    opened(app, "learn", stage=3, follow="decoder", follow_token=2)
    ((path, _),) = sent_to(app, "token_path")
    assert [part["kind"] for part in path["parts"] if part["stage"] == 1] == ["self", "cross", "feed_forward"]
    logits = [bar["value"] for bar in path["rows"][-1]["bars"]]
    assert len(logits) == 8
    assert logits == sorted(logits, reverse=True)


@pytest.mark.parametrize("wrong", [{"follow_token": 999}, {"follow_token": "x"}, {"stage": 99}, {"follow": "both"}])
def test_what_an_address_names_wrongly_becomes_the_default(app: AppTest, wrong: dict[str, object]) -> None:
    opened(app, "learn", **wrong)
    ((path, _),) = sent_to(app, "token_path")
    assert path["stage"] < len(path["stages"])


def test_both_norms_are_drawn_over_this_sentence_and_others(app: AppTest) -> None:
    opened(app, "learn", stage=1)
    (figure,) = charts(app)
    assert [annotation["text"] for annotation in figure["layout"]["annotations"]] == [
        "Before the norm",
        "Layer norm →",
        "Batch norm ↓",
    ]


def test_neighbours_and_a_sum_of_the_shipped_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(SHIPPED))
    app = opened(app_of(**TAB, plus="went", minus="go", **{"with": "come"}, equals="came"), "learn")
    shown = " ".join(one.value for one in app.html)
    assert "▁It" in shown
    assert "English" in shown
    said = " ".join(one.value for one in app.markdown)
    assert "**True" in said
    healthy(app.text_input(key="sum_expected").set_value("house").run())
    assert "**False" in " ".join(one.value for one in app.markdown)
    healthy(app.text_input(key="sum_plus").set_value("![x](https://evil.example) queen of hearts").run())
    assert "not a single token" in app.info[0].value


def test_a_gru_is_said_to_have_no_such_parts(earlier_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(earlier_checkpoints))
    app = opened(app_of(**TAB), "learn")
    assert "cannot be followed" in app.info[0].value


@pytest.mark.parametrize("name", ["no-positions", "no-residual"])
def test_experiments_say_what_they_lack(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    app = opened(app_of(**TAB, checkpoint=f"experiments/{name}", stage=0 if name == "no-positions" else 1), "learn")
    ((path, _),) = sent_to(app, "token_path")
    titles = [row["title"] for row in path["rows"]]
    assert {"no-positions": "No position", "no-residual": "No residual connection"}[name] in titles
    assert "green" in badges(app)
