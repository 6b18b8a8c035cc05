"""Probabilities read well; figures and sentences of the page; models that give no token a probability."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from model.decoding.sampling import draw_tokens
from model.errors import SessionError
from tests.model.adapters import zoo
from tests.viz.page_run import run_page
from tests.viz.pages.decoding.opening import app_at, opened
from tests.viz.sent import sent_to
from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.pages.decoding.translations import percent
from viz.pictures.figures.heads import align
from viz.selection.catalogue import ROOT_VARIABLE


def test_the_film_says_where_probabilities_end_and_why(trained_with: Callable[[dict[str, float]], None]) -> None:
    trained_with({"smoothing": 0.2})
    app = opened(app_at("Film"))
    note = sent_to(app, "decode_player")[0][0]["note"]
    assert "label smoothing ε = 0.2" in note
    # 1 − 0.2 + 0.2 / 370 pieces
    assert "near 80%" in note


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0.0, "0.0%"), (0.0004, "< 0.1%"), (0.001, "0.1%"), (0.0949, "9.5%"), (0.5, "50%"), (0.9951, "99.5%"),
     (0.999, "99.9%"), (0.9999, "> 99.9%"), (1.0, "100.0%")],
)  # fmt: skip
def test_what_is_not_certain_never_reads_as_certain_nor_what_is_possible_as_impossible(
    probability: float, shown: str
) -> None:
    assert percent(probability) == shown


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a GPT-2 that may write no token at all, and one whose logits are NaN."""
    root = tmp_path_factory.mktemp("broken")
    for name in ("mute", "nan"):
        zoo.save_model(root / name, "gpt2", "bytes")
    settings = root / "mute" / "generation_config.json"
    settings.write_text(
        json.dumps(json.loads(settings.read_text(encoding="utf-8")) | {"suppress_tokens": list(range(zoo.VOCAB))}),
        encoding="utf-8",
    )
    weights = load_file(root / "nan" / "model.safetensors")
    norm = next(name for name in weights if name.endswith("ln_f.weight"))
    save_file(weights | {norm: torch.full_like(weights[norm], torch.nan)}, root / "nan" / "model.safetensors")
    return root


@pytest.mark.parametrize(
    ("checkpoint", "said", "tab"),
    [
        ("nan", "This model computes values that are not numbers \\(NaN\\)", "Film"),
        *(
            ("mute", "The model gives no token a probability", tab)
            for tab in ("Film", "Logit lens", "Beam search", "Sampling")
        ),
    ],
)
def test_a_sentence_says_so_on_every_tab(
    broken: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: str, said: str, tab: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(broken))
    app = app_at(tab)
    app.query_params["checkpoint"] = checkpoint
    run_page(app, "decoding")
    assert not app.exception
    (error,) = app.error
    assert said in error.value


def test_a_row_without_probabilities_is_not_drawn_from() -> None:
    with pytest.raises(SessionError, match="no token a probability"):
        draw_tokens(torch.full((1, 5), torch.nan), [0.5])


def test_differences_are_of_what_both_have_and_curves_count_from_one_and_draw_tokens_literally() -> None:
    ours, theirs = np.arange(9.0).reshape(3, 3), np.ones((2, 3))
    rows, columns = align(["a", "b", "c"], ["a", "c"]), align(["x", "y", "z"], ["x", "y", "z"])
    found = common_difference(ours, theirs, rows, columns)
    np.testing.assert_array_equal(found, [[-1, 0, 1], [5, 6, 7]])
    for rows_write, named in ((True, "a → <b>&lt;b&gt;</b>"), (False, "<b>a</b> → &lt;b&gt;")):
        figure = attention_difference(found, ["a → <b>", "c"], ["x", "y", "z"], rows_write=rows_write)
        np.testing.assert_array_equal(figure.data[0].customdata, found)
        # The word in bold is the one that the row stands for; a given text has rows without an arrow.
        assert list(figure.layout.yaxis.ticktext) == [named, "c"]
    # Curves count steps from one, and draw tokens literally.
    one, other = Written("one", ("<b>a</b>", "b"), (0.5, 0.25)), Written("<i>", ("c",), (1.0,))
    figure = probability_curves(one, other, 1)
    assert [list(trace.x) for trace in figure.data] == [[1], [1, 2]]
    assert figure.data[1].customdata[0] == "&lt;b&gt;a&lt;/b&gt;"
    assert figure.data[0].name == "&lt;i&gt;"
    assert figure.layout.shapes[0].x0 == 1.5
