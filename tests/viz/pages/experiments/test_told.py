"""What the tabs on claims say of numbers: which sentence holds, in which unit, of which row of what was measured."""

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch

from model import Translator
from model.analysis import layer_kinds
from model.analysis.layer_kinds import LayerTime, LayerTimes, Settings
from model.analysis.measured_cost import MeasuredCost
from model.analysis.positions import PositionScheme
from model.analysis.scoring import ScoreCost
from tests.viz.pages.experiments.through_training.invented import film
from viz.access import models
from viz.pages.experiments import live_switches, masks, pooling, positions, python, scores, table_one, wording
from viz.pages.experiments.data import ablations, claims
from viz.pages.experiments.data.claims import Quartiles, Sample
from viz.pages.experiments.through_training import tab
from viz.pages.experiments.through_training.data import Arrival, OpenFilm
from viz.selection import state
from viz.selection.selection import Selection
from viz.ui import controls, frame, long_work


def told(monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """What these functions of Streamlit are given from now on."""
    heard: list[str] = []
    for name in names:
        monkeypatch.setattr(st, name, lambda text, *_rest, **_more: heard.append(text))
    return heard


# ---- wording ----


def test_durations_and_sizes_change_their_unit_at_a_thousand() -> None:
    shown = [wording.duration(seconds) for seconds in (1.0, 0.9994, 1e-3, 9.994e-4)]
    assert shown == ["1.00 s", "999 ms", "1.00 ms", "999 µs"]
    assert [wording.memory(size) for size in (1000, 999)] == ["1.00 kB", "999 B"]


def test_a_machine_that_is_busy_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = told(monkeypatch, "warning")
    for ratio in (1.0, wording.UNSTEADY, 1.6):
        wording.say_unsteady(ratio)
    assert len(heard) == 1
    assert "took 1.6 × as long" in heard[0]


# ---- Table 1 ----


def time(kind: Any, length: int, width: int, seconds: float, device: str = "cpu") -> LayerTime:
    return LayerTime(kind, length, width, device, MeasuredCost(seconds, seconds, 0))


def times(**seconds: float) -> LayerTimes:
    """Every kind takes ½, 1, 2 s at n = 32, 64, 128, unless it is given what it takes; of d = 32."""
    kinds = {kind: seconds.get(kind.replace("-", "_"), 2.0) for kind in claims.KINDS}
    lengths = tuple(time(kind, n, 32, of * n / 128) for n in (32, 64, 128) for kind, of in kinds.items())
    widths = tuple(time(kind, 128, width, width / 16.0) for kind in kinds for width in (16, 32))
    return LayerTimes(Settings(3, 5), 128, 32, lengths, widths)


def test_a_rate_is_that_of_the_largest_n() -> None:
    # 6 n d² multiply-adds of a GRU in 2 s.
    assert table_one._rate(times(), "recurrent", "cpu") == 6 * 128 * 32**2 / 2
    row = table_one._rows(times(), ("cpu",))[claims.KINDS.index("recurrent")]
    # Twice the time at twice the size is an exponent of 1; the paper has n d².
    assert row == ("Recurrent (GRU)", "CPU", "2.00 s", "393 k", "1", "1.0", "1.0", "2", "2.0", "1.0")
    line = table_one._line(times(), "recurrent", "cpu", True)
    assert (line.sizes, line.costs, line.is_dashed) == ((32, 64, 128), (0.5, 1.0, 2.0), False)
    assert table_one._line(times(), "recurrent", "cuda", False).is_dashed


def test_where_attention_and_a_gru_cross_is_said() -> None:
    assert "they do not cross up to n = 128" in table_one._crossing(times(self_attention=1.0), "cpu")
    assert "takes longer at every measured n" in table_one._crossing(times(self_attention=3.0), "cpu")
    # One is at half of the other, then at twice of it: they cross in the middle, by their logarithms.
    steep = {"self-attention": (1.0, 4.0), "recurrent": (2.0, 2.0)}
    late = tuple(time(kind, n, 32, of[n // 128]) for kind, of in steep.items() for n in (64, 128))
    assert "they cross at **n ≈ 91**" in table_one._crossing(replace(times(), over_length=late), "cpu")


def test_what_a_clock_shows_besides_counts_is_said_only_where_it_does() -> None:
    attention = 4 * 128 * 32**2 + 2 * 128**2 * 32
    gru, few = 6 * 128 * 32**2, 4 * 128 * 32**2 + 2 * 128 * 5 * 32
    for seconds, sentence, holds in (
        ({"recurrent": 2 * gru / attention}, "steps must run one after another", False),
        ({"recurrent": 2 * gru / attention * 1.01}, "steps must run one after another", True),
        ({"restricted": 2 * few / attention}, "reads every key r times", False),
        ({"restricted": 2 * few / attention * 1.01}, "reads every key r times", True),
    ):
        assert (sentence in table_one._bends(times(**seconds), "cpu")) == holds, (seconds, sentence)
    # By count 1.32 for self-attention; all else is as steep as counted.
    flat = table_one._bends(times(), "cpu")
    assert flat.endswith("Flatter in n than counted, because the fixed cost of a call still matters: Self-attention.")


def test_the_table_as_counted_has_a_row_for_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = told(monkeypatch, "html", "markdown", "subheader", "caption")
    monkeypatch.setattr(table_one, "_sizes", lambda: (256, 64))
    table_one._table(3, 5)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", heard[1])][1:]
    assert len(rows) == 5
    cells = {re.sub("<.*?>", "", "|".join(row)) for row in rows}
    assert any("O(n · d²)" in row and row.endswith("O(n)|1, of 256 steps") for row in cells), cells
    # The whole text of 256 positions is one layer of self-attention apart, and 255 of a convolution over three.
    assert any("O(1)|1|O(1)|1" in row for row in cells)
    assert any(row.endswith("O(n / k), §4|255") for row in cells)


# ---- scores ----


def sample(name: str, width: int, gradient: float, variance: float = 1.25) -> Sample:
    weights = np.array([0.5, 0.25])
    return Sample(
        name, width, variance, 1.0, Quartiles(0, 1, 2), Quartiles(0, 1.5, 2), Quartiles(0, gradient, 1), weights
    )


def test_the_claim_says_how_far_the_variance_is_from_its_formula_and_from_which_width_on_it_saturates() -> None:
    samples = {
        "dot": [sample("dot", width, 0.1 / width, 0.5 if width == 8 else 1.25) for width in claims.WIDTHS],
        "scaled": [sample("scaled", width, 0.1) for width in claims.WIDTHS],
    }
    flows = scores._flows(samples)
    assert flows == pytest.approx([1 / width for width in claims.WIDTHS])
    assert "from d_k = 16 on" in scores._conclusion(flows)
    claim = scores._claim(samples, flows)
    assert "differs from the formula (dotted line) by at most 50%" in claim
    assert "At the paper's d_k = 64 the median row still keeps 2% of" in claim
    # A share of exactly a tenth is not less.
    assert "from d_k = 8 on" in scores._conclusion([1, scores.VANISHED, 0.05, *[0.01] * 7])
    assert "**50%** to one key, the scaled one 50%: its scores have 1.0 ×" in scores._how_to_read(
        {name: of[0] for name, of in samples.items()}, 2
    )


@pytest.mark.parametrize("devices", [("cpu",), ("cpu", "cuda")])
def test_costs_are_told_at_the_largest_n_beside_those_of_the_dot_product(
    monkeypatch: pytest.MonkeyPatch, devices: tuple[str, ...]
) -> None:
    heard, figures = told(monkeypatch, "html", "caption", "warning"), []
    monkeypatch.setattr(frame, "chart", lambda figure, *_rest: figures.append(figure))
    monkeypatch.setattr(controls, "table_button", lambda *_rest: None)
    seconds = {"dot": 0.25, "general": 0.5, "additive": 1.0}
    measured = tuple(
        ScoreCost(name, size, device, MeasuredCost(of * size / 128, of, 100 * size))
        for name, of in seconds.items() for size in (64, 128) for device in devices
    )  # fmt: skip
    scores._measured(measured, 128, 8)
    said = " ".join(heard)
    assert ("Dashed lines are the GPU" in said) == (len(devices) > 1)
    assert all(name in heard[0] for name in ("Dot product", "Bilinear", "Additive"))
    # Four bytes for each of n · n · d_k values.
    assert "The table is for n = 128." in said
    assert "would need 524 kB at once" in said
    for cells in (("Dot product", "250 ms", "1.0 ×"), ("Bilinear", "500 ms", "2.0 ×"), ("Additive", "1.00 s", "4.0 ×")):
        row = next(row for row in re.findall(r"<tr>.*?</tr>", said) if cells[0] in row and cells[1] in row)
        assert cells[2] in row
    for figure, part in zip(figures, (0.125, 6_400), strict=True):
        assert [trace.line.dash for trace in figure.data] == ["solid", "dash"][: len(devices)] * 3
        assert (list(figure.data[0].x), figure.data[0].y[0]) == ([64, 128], part)


def test_scores_are_named_by_what_they_are_divided_by() -> None:
    heads: Any = {name: SimpleNamespace(widths=(8, 64, 8)) for name in ("scaled", "dot")}
    assert scores._named("scaled", heads) == "scores divided by √8 or √64"
    assert scores._named("dot", heads) == "the same, not divided"


def test_of_a_row_the_key_weights_are_those_of_the_trace_and_the_row_that_changes_most_is_shown(
    translator: Translator,
) -> None:
    trace = translator.trace("The animal was tired.", "Das Tier war müde.")
    for site, layer, head in (("encoder.self", 1, 2), ("decoder.cross", 0, 3)):
        inputs = trace.attention(site, layer)
        products = (inputs.query[head] @ inputs.key[head].T).double()
        dot, scaled = products.softmax(-1), (products / 8**0.5).softmax(-1)
        row = claims.most_changed_row(trace, site, layer, head)
        assert row == int((dot - scaled).abs().sum(1).argmax())
        weights = claims.row_weights(trace, site, layer, head, row)
        np.testing.assert_allclose(weights["scaled"], scaled[row], atol=1e-5)
        np.testing.assert_allclose(weights["dot"], dot[row], atol=1e-5)
    assert claims.own_scale(trace) == pytest.approx(8**-0.5)
    mixed: Any = SimpleNamespace(sites=("a", "b"), attention=lambda site, layer: SimpleNamespace(scale=ord(site)))
    assert claims.own_scale(mixed) == ord("a")


def test_heads_whose_rows_see_one_key_each_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def attention(site: str, layer: int) -> Any:
        rows = torch.ones(1, 2, 1) if site == "cross" else torch.tensor([[[1.0, 0.0], [1.0, 1.0]]])
        return SimpleNamespace(mask=SimpleNamespace(rows=lambda: rows), num_heads=3, query=torch.zeros(3, 2, 8))

    def saturation(trace: Any, site: str, layer: int) -> Any:
        of_heads = SimpleNamespace(spread=torch.full((3,), layer + 1.0), gradient=torch.zeros(3))
        return {name: SimpleNamespace(medians=of_heads, evenness=torch.ones(3)) for name in ("dot", "scaled")}

    monkeypatch.setattr(claims, "head_saturation", saturation)
    trace: Any = SimpleNamespace(sites=("cross", "self"), layers_of=lambda site: 2, attention=attention)
    found = claims.heads.__wrapped__(trace)["scaled"]  # type: ignore[attr-defined]
    assert found.places == tuple(("self", layer, head) for layer in (0, 1) for head in (0, 1, 2))
    assert (found.widths, found.spread.tolist()) == ((8,) * 6, [1.0] * 3 + [2.0] * 3)


def test_layers_are_timed_over_widths_at_least_up_to_the_widest() -> None:
    totals = [claims.times_task(64, width, 3, 5).total for width in (16, layer_kinds.WIDEST, 2 * layer_kinds.WIDEST)]
    devices = 1 + torch.cuda.is_available()
    assert (totals[0], totals[2] - totals[1]) == (totals[1], devices * len(claims.KINDS))


# ---- pooling ----


def test_pooling_is_what_a_gaussian_kernel_gives() -> None:
    found = claims.regression(150, 250)
    kernel = np.exp(-((2.5 - found.keys) ** 2) / (2 * 1.5**2))
    assert found.answer == pytest.approx(kernel @ found.values / kernel.sum())
    # Each point is predicted from all others.
    kernel = np.exp(-((found.keys[:, None] - found.keys) ** 2) / 2 / 2.0**2)
    np.fill_diagonal(kernel, 0)
    missed = kernel @ found.values / kernel.sum(1) - found.values
    assert claims.errors()[claims.TRIED.index(200)] == pytest.approx(np.sqrt((missed**2).mean()))
    assert (claims.TRIED[0], claims.TRIED[-1]) == (claims.NARROWEST, claims.WIDEST)


@pytest.mark.parametrize(
    ("used", "kind"),
    [(1.49, "a hard look-up"), (1.5, "a soft look-up"), (25.0, "a soft look-up"), (25.1, "nearly a plain mean")],
)
def test_a_look_up_is_hard_or_soft_by_the_keys_it_averages(used: float, kind: str) -> None:
    said = pooling._how_to_read(replace(claims.regression(150, 250), keys_used=used), 150, 250)
    assert said.endswith(f"(2 to the power of its entropy): {kind}.")
    assert "the query at 2.50 gives it" in said
    assert "With σ = 1.50 a query" in said


# ---- masks ----


def test_layers_that_share_a_mask_are_named_from_one() -> None:
    named = [masks._layers(layers, count) for layers, count in (((0, 1), 2), ((0,), 1), ((1,), 2), ((0, 2), 3))]
    assert named == ["All layers", "The only layer", "Layer 2", "Layers 1, 3"]


# ---- positions ----


def test_a_wavelength_is_drawn_as_a_band_where_it_is_shorter_than_the_picture() -> None:
    assert "The band is one period" in positions._wavelength("10^2", 63.99, 64)
    assert "= 64.00 (§3.5), longer than the range" in positions._wavelength("10^2", 64.0, 64)
    assert [positions._length(tokens) for tokens in (6.283, 99.5, 100, 1234.5)] == ["6.28", "99.50", "100", "1,234"]


def test_a_position_beyond_the_sentence_has_no_token() -> None:
    shown = claims.Shown(4, 10_000, "interleaved", ("a", "b"), np.zeros((8, 4)))
    assert [positions._token_at(shown, at) for at in (1, 2)] == ["b", "beyond this sentence"]
    assert [part.split("=")[0].strip() for part in positions._formulas(6, 10, "halves")] == [
        r"PE_{pos,\,i}", r"PE_{pos,\,i+3}"
    ]  # fmt: skip
    assert positions._formulas(6, 10, "interleaved")[1].startswith(r"PE_{pos,\,2i+1}")


def test_as_many_positions_are_drawn_as_the_text_has_but_at_least_32_and_at_most_128() -> None:
    def drawn(source: int, target: int) -> int:
        trace: Any = SimpleNamespace(source_tokens="s" * source, target_tokens="t" * target)
        return claims.positions_drawn(trace)

    assert [drawn(3, 5), drawn(40, 5), drawn(5, 40), drawn(200, 5)] == [32, 40, 40, 128]


@pytest.mark.parametrize(
    ("scheme", "rows", "columns", "bound"),
    [
        (PositionScheme("bias", torch.tensor([[0.5, -2.0, 0.0]]), first=-1), ["H1"], ["−1", "+0", "+1"], 2.0),
        (PositionScheme("angles", torch.tensor([[0.5, -0.25]] * 3)), ["0·a", "1·b", "2"], ["0", "1"], 1.0),
        (PositionScheme("table", torch.linspace(-100, 0, 101)[:, None]), ["0·a", "1·b", "2"], ["0"], 99.0),
    ],
    ids=["bias", "angles", "table"],
)  # fmt: skip
def test_a_scheme_of_positions_is_drawn_with_its_own_names_and_scale(
    monkeypatch: pytest.MonkeyPatch, scheme: PositionScheme, rows: list[str], columns: list[str], bound: float
) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(positions, "matrix_picture", lambda data, *_rest, **_more: drawn.append(data))
    trace: Any = SimpleNamespace(source_tokens=(), target_tokens=("a", "b"), picture=None)
    positions._draw(scheme, trace)
    (data,) = drawn
    assert (list(data.row_tokens)[:3], data.column_tokens) == (rows, columns)
    assert (data.scale.low, data.scale.high) == pytest.approx((-bound, bound))
    np.testing.assert_allclose(data.values, np.clip(scheme.values.numpy(), -bound, bound), rtol=1e-6)
    assert bool(data.note) == (scheme.what == "table")


# ---- live switches, training ----


@pytest.mark.parametrize(
    ("layer", "head", "chosen"), [(3, 3, (2, 3)), (4, 4, (None, 0)), (0, 0, (None, 0)), (1, 1, (0, 1))]
)
def test_a_part_is_removed_from_a_layer_and_a_head_that_there_is(
    monkeypatch: pytest.MonkeyPatch, layer: int, head: int, chosen: tuple[int | None, int]
) -> None:
    """Of an encoder of two layers and a decoder of three."""
    choices = SimpleNamespace(off_layer=layer, kept_head=head)
    offered: list[list[int]] = []
    monkeypatch.setattr(state, "current", lambda: SimpleNamespace(paper=choices))
    monkeypatch.setattr(state, "change", lambda **values: choices.__dict__.update(values))

    def dropdown(field: str, name: str, labels: dict[int, str], width: int) -> int:
        offered.append(list(labels))
        return int(getattr(choices, field))

    monkeypatch.setattr(controls, "dropdown", dropdown)
    model: Any = SimpleNamespace(config=SimpleNamespace(num_layers=2, decoder_layers=3, num_heads=4))
    assert live_switches._widgets(model) == chosen
    assert offered == [[0, 1, 2, 3], [0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("since", "when"), [(0, "by step 5"), (1, "at step 6"), (2, "between steps 6 and 9"), (3, "between steps 9 and 20")]
)
def test_when_a_head_took_on_its_job_is_told_by_the_frames_around_it(since: int, when: str) -> None:
    assert tab._when(Arrival(0, 0, "same", 0.5, since), (5, 6, 9, 20)) == when


# ---- the Python of what is shown ----


def chosen(monkeypatch: pytest.MonkeyPatch, **choices: object) -> None:
    monkeypatch.setattr(state, "current", lambda: Selection().changed(**choices))


def test_a_snippet_pools_and_switches_off_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen(monkeypatch, pooling_width=150, pooling_query=250)
    assert "regression(width=1.5, query=2.5)" in str(python._pooling(None))
    monkeypatch.setattr(models, "abilities", lambda choice: SimpleNamespace(is_headlight=True))
    monkeypatch.setattr(models, "translator", lambda choice: None)
    monkeypatch.setattr(ablations, "sentence_task", lambda *_rest: None)
    monkeypatch.setattr(long_work, "known", lambda task: None)
    monkeypatch.setattr(python, "of_model", lambda imports, *lines: " ".join(lines))
    trace: Any = SimpleNamespace(text="Hi.")
    for layer, said in ((0, "None, 3)"), (2, "1, 3)")):
        chosen(monkeypatch, off_layer=layer, kept_head=3)
        assert f"None if part == 'positions' else {said}" in str(python._live_switches(trace))


@pytest.mark.parametrize(("tokens", "width", "shape"), [(5, 0, "64, 32"), (70, 0, "70, 32"), (5, 48, "64, 48")])
def test_a_snippet_has_a_row_for_each_position_that_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tokens: int, width: int, shape: str
) -> None:
    chosen(monkeypatch, width=width)
    monkeypatch.setattr(models, "abilities", lambda choice: SimpleNamespace(is_headlight=True, positions="sinusoidal"))
    config = SimpleNamespace(position_layout="halves")
    monkeypatch.setattr(models, "translator", lambda choice: SimpleNamespace(config=config))
    monkeypatch.setattr(python, "of_text", lambda trace, imports, *lines: " ".join(lines))
    trace: Any = SimpleNamespace(positional={"source": np.zeros((tokens, 32))})
    assert f"sinusoidal_encoding({shape}, base=10000.0, layout='halves')" in str(python._positions(trace))


@pytest.mark.parametrize(("asked", "shown"), [((1, 0), "1, 0"), ((0, 1), "0, 1"), ((2, 9), "1, 1")])
def test_a_snippet_of_a_film_is_of_a_head_that_it_has(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[int, int], shown: str
) -> None:
    chosen(monkeypatch, film_layer=asked[0], film_head=asked[1], film_site="encoder.self", film_metric="same")
    monkeypatch.setattr(python, "own_film", lambda: OpenFilm(film(), "snippet"))
    monkeypatch.setattr(python, "own_name", lambda: "own.npz")
    assert f"weights['encoder.self'][:, {shown}]" in str(python._through_training(None))
