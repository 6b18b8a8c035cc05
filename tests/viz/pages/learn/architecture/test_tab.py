"""The Transformer as a map: the model's own numbers, the film over one translation, and where a box leads."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, opened
from tests.viz.sent import sent_to
from viz.selection.catalogue import ROOT_VARIABLE

TAB = {"learn": "The Transformer"}


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(**TAB)


def header_of(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "architecture_player")
    return header


def test_the_map_has_the_numbers_of_the_model(app: AppTest) -> None:
    architecture = header_of(opened(app, "learn"))["architecture"]
    encoder, decoder = architecture["encoder"], architecture["decoder"]
    assert (encoder["layers"], decoder["layers"]) == (2, 2)
    assert (encoder["hasCross"], decoder["hasCross"]) == (False, True)
    assert architecture["norm"] == "pre"
    assert decoder["notes"]["cross"] == "4 heads of 8"
    assert decoder["notes"]["feed_forward"] == "32 → 64 → 32"
    assert encoder["notes"]["embedding"] == "370 tokens × 32"


def test_the_film_has_a_step_for_each_token_with_its_candidates(app: AppTest) -> None:
    header = header_of(opened(app, "learn", map=3))
    assert len(header["read"]) == len(header["written"]) == len(header["tokens"])
    assert header["read"][0] == "<s>"
    assert header["read"][1:] == header["tokens"][:-1]
    for candidates, token in zip(header["written"], header["tokens"], strict=True):
        assert candidates[0]["token"] == token
        probabilities = [candidate["probability"] for candidate in candidates]
        assert probabilities == sorted(probabilities, reverse=True)
    assert header["command"]["step"] == 3


@pytest.mark.parametrize("name", ["no-residual", "no-positions"])
def test_experiments_are_drawn_without_what_they_lack(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    app = opened(app_of(**TAB, checkpoint=f"experiments/{name}"), "learn")
    architecture = header_of(app)["architecture"]
    assert architecture["hasResidual"] == (name != "no-residual")
    assert architecture["encoder"]["hasPositions"] == (name != "no-positions")
    said = " ".join(caption.value for caption in app.caption)
    assert {"no-residual": "without residual", "no-positions": "adds no positions"}[name] in said


@pytest.mark.parametrize("architecture", ["recurrent", "convolutional"])
def test_a_model_from_before_the_transformer_is_said_to_be_none(
    earlier_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(earlier_checkpoints))
    app = opened(app_of(**TAB, checkpoint=architecture), "learn")
    assert "The map shows a Transformer" in app.info[0].value
    assert not sent_to(app, "architecture_player")
