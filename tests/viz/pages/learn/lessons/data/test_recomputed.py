"""Every number and word that a view of heads, rows, masks, beams or layers finds, computed once more from the trace."""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

from model.analysis.layer_kinds import Kind
from viz.pages.learn.lessons.data import (
    by_hand,
    claims,
    heads,
    layer_kinds,
    parameters,
    positions,
    rows,
    search,
    three_kinds,
)
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars, Curves, LiveRow, Rows
from viz.pictures.matrix_picture.component import MatrixData

TEXT = "The animal didn't cross the street because it was too tired."
HEAD = "encoder.self 3 1"
LAYERS, HEADS = 6, 8


def agree(found: Mapping[str, float | str], expected: Mapping[str, float | str]) -> None:
    """Whether a view has found this: words as they are, numbers to float32's last digits."""
    for name, value in expected.items():
        assert found[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-4, abs=1e-6)), name


def weights_of(shipped: Shipped, site: str, text: str = TEXT) -> np.ndarray:
    """[layer, head, query, key]."""
    trace = shipped.trace(text)
    return np.stack([trace.weights(site, layer).numpy() for layer in range(LAYERS)])


def token_at(shipped: Shipped, word: str, text: str = TEXT) -> int:
    return list(shipped.trace(text).source_tokens).index(f"▁{word}")


def names_of(shipped: Shipped, text: str = TEXT) -> list[str]:
    return [token.removeprefix("▁") for token in shipped.trace(text).source_tokens]


def of_row(weights: np.ndarray, names: list[str]) -> dict[str, float | str]:
    order = sorted(range(len(weights)), key=lambda key: -weights[key])
    entropy = -sum(float(one) * math.log2(one) for one in weights if one > 0)
    return {
        "top": names[order[0]], "weight": float(weights[order[0]]), "second": names[order[1]], "keys": len(names),
        "second_weight": float(weights[order[1]]), "sum": 1.0, "entropy": entropy, "keys_used": 2**entropy,
    }  # fmt: skip


def prefixed(prefix: str, found: dict[str, float | str]) -> dict[str, float | str]:
    return {f"{prefix}_{name}": value for name, value in found.items()}


# ---- rows ----


def test_a_row_tells_its_largest_weights_and_how_far_it_spreads(shipped: Shipped) -> None:
    own = weights_of(shipped, "encoder.self")[3, 1, token_at(shipped, "it")]
    view = rows.row(shipped, text=TEXT, head=HEAD, word="it")
    agree(view.found, of_row(own, names_of(shipped)) | {"head": "L4 H2", "word": "it"})
    assert isinstance(view.picture, Bars)
    assert view.picture.marked == own.argmax()
    np.testing.assert_allclose(next(iter(view.picture.series.values())), own, rtol=1e-4)


def test_the_way_to_a_weight_is_recomputed_from_queries_and_keys(shipped: Shipped) -> None:
    at = token_at(shipped, "it")
    inputs = shipped.trace(TEXT).attention("encoder.self", 3)
    dots = (inputs.key[1] @ inputs.query[1, at]).numpy().astype(float)
    own = weights_of(shipped, "encoder.self")[3, 1, at]
    order = np.argsort(-own)
    raw = np.exp(dots - dots.max()) / np.exp(dots - dots.max()).sum()
    view = rows.derived(shipped, text=TEXT, head=HEAD, word="it")
    d_k = 256 // HEADS
    agree(view.found, {
        "d_k": d_k, "root": math.sqrt(d_k), "dot": dots[order[0]], "scaled": dots[order[0]] / math.sqrt(d_k),
        "sum": 1.0,
    })  # fmt: skip
    assert isinstance(view.picture, LiveRow)
    # What a browser makes of it before anything is dragged: the model's own weights.
    powers = np.exp((np.array(view.picture.scores) - dots.max()) / view.picture.divisor)
    np.testing.assert_allclose(powers / powers.sum(), own, atol=1e-5)
    other = rows.unscaled(shipped, text=TEXT, head=HEAD, word="it").found
    agree(other, of_row(own, names_of(shipped)) | prefixed("raw", of_row(raw, names_of(shipped))))
    agree(other, {"direction": "It grows" if raw.max() > own.max() else "It shrinks"})


def test_what_a_head_hands_on_is_the_sum_of_weighted_values(shipped: Shipped) -> None:
    at = token_at(shipped, "it")
    values = shipped.trace(TEXT).attention("encoder.self", 3).values()[1].numpy()
    own = weights_of(shipped, "encoder.self")[3, 1, at]
    lengths, output = own * np.linalg.norm(values, axis=1), own @ values
    largest = values[own.argmax()]
    agree(rows.head_output(shipped, text=TEXT, head=HEAD, word="it").found, {
        "length": float(np.linalg.norm(output)), "share": float(lengths.max() / lengths.sum()), "d_v": values.shape[1],
        "distance": float(np.linalg.norm(output - largest) / np.linalg.norm(largest)),
        "most": names_of(shipped)[int(lengths.argmax())],
    })  # fmt: skip


def test_the_sharpest_and_the_softest_row_are_those_of_all_heads(shipped: Shipped) -> None:
    every = weights_of(shipped, "encoder.self").reshape(-1, len(names_of(shipped))).astype(float)
    used = [2 ** -sum(one * math.log2(one) for one in row if one > 0) for row in every]
    sharp, soft = every[int(np.argmin(used))], every[int(np.argmax(used))]
    agree(rows.sharp_and_soft(shipped, text=TEXT, site="encoder.self").found, {
        "sharp_weight": sharp.max(), "soft_weight": soft.max(), "sharp_keys": min(used), "soft_keys": max(used),
        "keys": every.shape[1],
    })  # fmt: skip
    # A row of cross-attention is called by the token that is written there.
    cross = weights_of(shipped, "decoder.cross").astype(float)
    layer, head, row = np.unravel_index(np.argmax(-(cross * np.log2(cross + 1e-12)).sum(-1)), cross.shape[:3])
    token = shipped.trace(TEXT).steps[row].token.removeprefix("▁")
    soft_name = rows.sharp_and_soft(shipped, text=TEXT, site="decoder.cross").found["soft"]
    assert str(soft_name) == f"“{token}” in L{layer + 1} H{head + 1}"


def test_two_heads_overlap_by_the_smaller_of_their_weights_and_a_mean_is_over_all_heads(shipped: Shipped) -> None:
    at, every = token_at(shipped, "it"), weights_of(shipped, "encoder.self")
    view = rows.two_heads(shipped, text=TEXT, head=HEAD, other="encoder.self 0 5", word="it")
    one, two = every[3, 1, at], every[0, 5, at]
    names = names_of(shipped)
    agree(view.found, of_row(one, names) | prefixed("other", of_row(two, names)) | {"other_head": "L1 H6"})
    agree(view.found, {"overlap": float(sum(map(min, one, two)))})
    found = rows.averaged(shipped, text=TEXT, head=HEAD, word="it").found
    agree(found, prefixed("mean", of_row(every[3, :, at].mean(0), names)) | {"heads": HEADS})


def test_without_the_mask_weight_lies_on_what_is_not_written_yet(shipped: Shipped) -> None:
    trace = shipped.trace(TEXT)
    at = [step.token for step in trace.steps].index("▁es")
    inputs = trace.attention("decoder.self", 0)
    scores = (inputs.key[2] @ inputs.query[2, at]).numpy().astype(float) / math.sqrt(256 // HEADS)
    free = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    found = rows.unmasked(shipped, text=TEXT, head="decoder.self 0 2", word="es").found
    agree(found, {"later": 0.0, "free_later": float(free[at + 1 :].sum())})
    assert float(found["free_later"]) > 0.01


# ---- heads and masks ----


def test_a_link_is_the_largest_of_all_heads(shipped: Shipped) -> None:
    at, key = token_at(shipped, "it"), token_at(shipped, "animal")
    own = weights_of(shipped, "encoder.self")[:, :, at, key]
    layer, head = divmod(int(own.argmax()), HEADS)
    agree(heads.links(shipped, text=TEXT, site="encoder.self", word="it", key="animal").found, {
        "weight": float(own.max()), "mean": float(own.mean()), "heads": LAYERS * HEADS,
        "head": f"L{layer + 1} H{head + 1}", "above_half": sum(float(one) > 0.5 for one in own.ravel()),
        "even": 1 / len(names_of(shipped)),
    })  # fmt: skip
    view = claims.shares(shipped, text=TEXT, site="encoder.self", word="it", key="animal")
    assert isinstance(view.picture, Bars)
    assert view.picture.marked == [str(label) for label in view.picture.labels].index("mean of all 48 heads")
    agree(view.found, {
        "most": float(own.max()), "least": float(own.min()), "mean": float(own.mean()), "heads": LAYERS * HEADS,
        "largest_in": int((weights_of(shipped, "encoder.self")[:, :, at].argmax(-1) == key).sum()),
        "median": float(np.median(own)), "head": f"L{layer + 1} H{head + 1}", "even": 1 / len(names_of(shipped)),
    })  # fmt: skip


def test_the_parts_of_a_layers_heads_add_up_to_its_output(shipped: Shipped) -> None:
    at, trace = token_at(shipped, "it"), shipped.trace(TEXT)
    projection = shipped.translator.model.get_parameter("encoder.layers.3.self_attention.output.weight").detach()
    inputs, own = trace.attention("encoder.self", 3), weights_of(shipped, "encoder.self")[3, :, at]
    width = 256 // HEADS
    added = np.stack([
        projection[:, head * width : (head + 1) * width].numpy() @ (own[head] @ inputs.values()[head].numpy())
        for head in range(HEADS)
    ])  # fmt: skip
    lengths = np.linalg.norm(added, axis=1)
    agree(heads.parts(shipped, text=TEXT, site="encoder.self", layer=3, word="it").found, {
        "heads": HEADS, "layer": 4, "d_model": 256, "longest": f"L4 H{lengths.argmax() + 1}", "length": lengths.max(),
        "shortest_length": lengths.min(), "sum_of_lengths": lengths.sum(),
        "length_of_sum": float(np.linalg.norm(added.sum(0))),
    })  # fmt: skip


def test_a_causal_mask_leaves_each_row_what_comes_before_it(shipped: Shipped) -> None:
    size = len(shipped.trace(TEXT).target_tokens)
    middle = size // 2
    agree(positions.mask(shipped, text=TEXT, site="decoder.self").found, {
        "rows": size, "keys": size, "forbidden": size * (size - 1) // 2, "forbidden_weight": 0.0, "seen_first": 1,
        "seen_last": size, "seen_middle": middle + 1, "position": middle + 1,
    })  # fmt: skip
    length = len(names_of(shipped))
    shown = positions.mask(shipped, text=TEXT, site="decoder.self")
    assert isinstance(shown.picture, MatrixData)
    assert shown.picture.values.tolist() == np.tril(np.ones((size, size))).tolist()
    agree(positions.mask(shipped, text=TEXT, site="encoder.self").found, {"forbidden": 0, "seen_first": length})


# ---- search ----


def test_a_cache_saves_what_earlier_rows_cost(shipped: Shipped) -> None:
    found = search.cache(shipped, text=TEXT).found
    length, steps, width = len(names_of(shipped)), len(shipped.trace(TEXT).steps), 256
    # The first step computes keys and values of the sentence in every layer, and its row has one key less to attend to.
    more = LAYERS * (2 * length * width**2 - 2 * width)
    assert float(found["first"]) - float(found["second"]) == pytest.approx(more / 1e6)
    assert found["numbers"] == LAYERS * 2 * width * (length + steps - 1)
    assert float(found["last_again"]) > float(found["last"]) * (steps - 3)


def test_three_kinds_differ_in_the_weight_on_later_tokens(shipped: Shipped) -> None:
    view = three_kinds.three_kinds(shipped, text=TEXT, letters="abcabc")
    own = weights_of(shipped, "encoder.self")
    later = np.mean([own[..., row, row + 1 :].sum(-1).mean() for row in range(own.shape[2])])
    agree(view.found, {"encoder_later": float(later), "encoder_heads": 48, "decoder_heads": 8, "decoder_later": 0.0})
    assert isinstance(view.picture, Rows)
    assert [row[-1] for row in view.picture.rows] == [f"{later:.0%}", "0%", "0%"]


def test_a_repeated_letter_is_held_against_what_followed_it_last_time(shipped: Shipped) -> None:
    found = heads.opened(shipped, text="xyzxyzx", head="decoder.self 1 0", model="induction").found
    weights = shipped.trace_of("induction", "xyzxyzx").weights("decoder.self", 1)[0].numpy()
    # The fourth letter is the first again, which the second followed; the last one was seen as the fourth.
    agree(found, {"follower": float(np.mean([weights[3, 1], weights[4, 2], weights[5, 3], weights[6, 4]]))})


def test_a_temperature_divides_the_log_probabilities_of_the_candidates(shipped: Shipped) -> None:
    view, step = search.temperature(shipped, text=TEXT, step=3, percents=[50, 200]), shipped.trace(TEXT).steps[2]
    shares = {}
    for percent in (50, 100, 200):
        powers = [math.exp(one.log_prob) ** (100 / percent) for one in step.candidates[:8]]
        shares[f"at_{percent}"] = powers[0] / sum(powers)
    agree(view.found, shares)
    assert isinstance(view.picture, LiveRow)
    assert list(view.picture.scores) == pytest.approx([one.log_prob for one in step.candidates[:8]])


def test_candidates_are_those_of_the_step_that_is_counted_from_1(shipped: Shipped) -> None:
    view, step = search.candidates(shipped, text=TEXT, step=3), shipped.trace(TEXT).steps[2]
    first, second = step.candidates[:2]
    agree(view.found, {
        "step": 3, "first": first.token.removeprefix("▁"), "first_probability": math.exp(first.log_prob), "shown": 8,
        "second": second.token.removeprefix("▁"), "second_probability": math.exp(second.log_prob),
        "rest": 1 - sum(math.exp(one.log_prob) for one in step.candidates[:8]),
    })  # fmt: skip
    steps = shipped.trace(TEXT).steps
    assert search.candidates(shipped, text=TEXT, step=99).found["step"] == len(steps)
    assert search.candidates(shipped, text=TEXT, step=len(steps) - 1).found["step"] == len(steps) - 1


def test_the_rows_of_the_beam_are_what_it_keeps_after_each_step(shipped: Shipped) -> None:
    view = search.living(shipped, text=TEXT)
    tree = shipped.translator.beam_tree(TEXT, 4, 0.6)
    assert isinstance(view.picture, Rows)
    assert [str(column.title) for column in view.picture.columns] == ["step", *(f"rank {rank}" for rank in range(1, 5))]
    assert len(view.picture.rows) == min(7, 1 + max(node.step for node in tree.nodes))
    winner = shipped.translator.translate(TEXT, beam=4)
    leads = 0
    for number, (step, *kept) in enumerate(view.picture.rows):
        assert step == str(number + 1)
        own = sorted(
            (node for node in tree.nodes if node.step == number and node.row is not None), key=lambda n: n.row or 0
        )
        totals = [float(str(text).replace("−", "-").rpartition("(")[2].rstrip(")")) for text in kept if text]
        assert totals == pytest.approx([node.total for node in own[:4]], abs=0.051)
        assert totals == sorted(totals, reverse=True)
        if not leads and winner.startswith(str(kept[0]).split()[0]):
            leads = number + 1
    agree(view.found, {"width": 4, "leads": leads, "nodes": len(tree.nodes) - 1})


@pytest.mark.long
def test_beams_of_several_widths_and_penalties_are_those_of_the_translator(shipped: Shipped) -> None:
    widths, translator = [1, 2, 4], shipped.translator
    ends = [tree.winner for tree in (translator.beam_tree(TEXT, width, 0.6) for width in widths)]
    scores = [end.total / ((5 + end.step + 1) / 6) ** 0.6 for end in ends]
    found = search.widths(shipped, text=TEXT, widths=widths).found
    agree(found, {
        "falls": sum(after < before - 1e-6 for before, after in pairwise(scores)),
        "worst": widths[scores.index(min(scores))], "before_worst": widths[max(scores.index(min(scores)), 1) - 1],
        "texts": len({translator.translate(TEXT, beam=width) for width in widths}),
    })  # fmt: skip
    for percent in (0, 100):
        end = translator.beam_tree(TEXT, 4, percent / 100).winner
        own = search.alphas(shipped, text=TEXT, percents=[0, 100]).found
        agree(own, {f"tokens_{percent}": end.step + 1, f"log_prob_{percent}": end.total})
    view = search.penalty(shipped, length=10)
    assert isinstance(view.picture, Curves)
    assert [(line[0], line[-1]) for line in (view.picture.x, *view.picture.lines.values())] == [
        (1.0, 20.0), (1.0, 1.0), (1.0, pytest.approx((25 / 6) ** 0.6)), (1.0, pytest.approx(25 / 6)),
    ]  # fmt: skip
    agree(view.found, {
        "at": (15 / 6) ** 0.6, "at_double": (25 / 6) ** 0.6, "none": 1.0, "ratio": (25 / 15) ** 0.6, "double": 20,
    })  # fmt: skip


# ---- layers, positions and functions ----


def test_how_far_heads_look_is_counted_in_tokens(shipped: Shipped) -> None:
    own, names = weights_of(shipped, "encoder.self")[0], names_of(shipped)
    far = [[abs(int(row.argmax()) - at) for at, row in enumerate(head)] for head in own]
    most = [max(head) for head in far]
    surest = max(
        (float(own[head, row].max()), head, row)
        for head in range(HEADS)
        for row in range(len(names))
        if far[head][row] > 4
    )
    _weight, head, row = surest
    view = layer_kinds.looks_far(shipped, text=TEXT)
    agree(view.found, {
        "farthest": far[head][row], "head": f"L1 H{head + 1}", "from": names[row],
        "to": names[int(own[head, row].argmax())],
        "weight": float(own[head, row].max()), "far": sum(one > 4 for one in most), "reach": 4, "heads": HEADS,
        "mean": float(np.mean(far)), "window": 9, "length": len(names),
    })  # fmt: skip
    assert isinstance(view.picture, Bars)
    assert [str(label) for label in view.picture.labels] == [f"L1 H{number}" for number in range(1, HEADS + 1)]


def test_the_layers_of_table_1_are_counted_by_its_formulas(shipped: Shipped) -> None:
    n, d = len(names_of(shipped)), 512
    agree(layer_kinds.projections(shipped, text=TEXT, width=d).found, {
        "scores": 2 * n * n * d, "projections": 4 * n * d * d, "share": n / (n + 2 * d), "crossing": 2 * d,
        "attention": 2 * n * n * d + 4 * n * d * d,
    })  # fmt: skip
    found = layer_kinds.operations(shipped, width=d).found
    short = float(found["short"])
    agree(found, {"attention": short**2 * d, "recurrent": short * d**2, "ratio": d / short})
    assert float(found["below"]) < d <= float(found["above"])
    assert short == d / 8
    assert layer_kinds.operations(shipped, width=100).found["short"] == 16
    curves = layer_kinds.operations(shipped, width=d).picture
    assert isinstance(curves, Curves)
    assert curves.x.tolist() == [2.0**power for power in range(3, 14)]
    agree(layer_kinds.in_turn(shipped, text=TEXT).found, {
        "self_attention_steps": 1, "recurrent_steps": n, "convolution_steps": 1, "self_attention_layers": 1,
        "recurrent_layers": 1, "restricted_layers": math.ceil((n - 1) / 4),
    })  # fmt: skip
    table = layer_kinds.in_turn(shipped, text=TEXT).picture
    assert isinstance(table, Rows)
    # Each order, without where the paper has it.
    orders = [(str(row[2]), f"{row[4]}".partition(",")[0]) for row in table.rows]
    assert orders[:3] == [("O(1)", "O(1)"), ("O(n)", "O(n)"), ("O(1)", "O(n/k)")]
    assert orders[3:] == [("O(1)", "O(logₖ n)"), ("O(1)", "O(n/r)")]


@pytest.mark.parametrize(("kind", "layers"), [("convolution", 3), ("recurrent", 1)])
def test_influence_is_read_off_its_picture(shipped: Shipped, kind: Kind, layers: int) -> None:
    view = layer_kinds.influence(shipped, kind=kind, layers=layers)
    assert isinstance(view.picture, MatrixData)
    values, size = view.picture.values, len(view.picture.row_tokens)
    assert list(view.picture.row_tokens) == list(view.picture.column_tokens) == [str(at) for at in range(1, size + 1)]
    # Of the last output, what lies more than eight positions before it.
    far = sum(values[size - 1, at] for at in range(size) if size - 1 - at > layer_kinds.NEAR)
    reach = max(abs(row - column) for row, column in zip(*np.nonzero(values), strict=True))
    agree(view.found, {
        "reach": reach, "reach_1": reach if layers == 1 else 1, "positions": size, "last": size - 1,
        "nonzero": np.count_nonzero(values) / size**2, "distant": far / values[size - 1].sum(),
    })  # fmt: skip


def test_dot_products_of_positions_are_sums_of_cosines_of_their_distance(shipped: Shipped) -> None:
    def product(distance: int) -> float:
        return sum(math.cos(distance / 10_000 ** (2 * pair / 256)) for pair in range(128))

    likeness = positions.likeness(shipped, distance=20)
    assert isinstance(likeness.picture, Curves)
    np.testing.assert_allclose(likeness.picture.x, range(-20, 21))
    np.testing.assert_allclose(
        likeness.picture.lines["dot product"], [product(distance) for distance in range(-20, 21)], rtol=1e-4
    )
    found = likeness.found
    agree(found, {"self": 128.0, "one": product(1), "five": product(5), "ten": product(10), "far": product(20)})
    waves = [2 * math.pi * 10_000 ** (2 * pair / 256) for pair in range(128)]
    agree(positions.encodings(shipped, positions=40).found, {
        "shortest": waves[0], "longest": waves[-1], "slow": sum(wave > 40 for wave in waves), "pairs": 128,
        "length": math.sqrt(128), "largest": 1.0,
    })  # fmt: skip
    shift = positions.shift(shipped, position=10, by=3)
    agree(shift.found, {
        "to": 13, "fastest": math.degrees(3) % 360, "slowest": math.degrees(3 * 2 * math.pi / waves[-1]), "pairs": 128,
    })  # fmt: skip
    assert positions.shift(shipped, position=10, by=7).found["fastest"] == pytest.approx(math.degrees(7) - 360)
    assert isinstance(shift.picture, Rows)
    pairs = [int(str(row[0]).split(",")[0]) // 2 for row in shift.picture.rows]
    assert (pairs[0], pairs[-1], len(pairs)) == (0, 127, positions.PAIRS)
    for pair, row in zip(pairs, shift.picture.rows, strict=True):
        rate = 2 * math.pi / waves[pair]
        assert row[:2] == (f"{2 * pair}, {2 * pair + 1}", f"{math.degrees(3 * rate) % 360:.1f}°")
        for at, cell in ((10, row[2]), (13, row[3]), (13, row[4])):
            point = [float(number.replace("−", "-")) for number in str(cell).split(",")]
            assert point == pytest.approx([math.sin(at * rate), math.cos(at * rate)], abs=1e-3)
    drawn = positions.waves(shipped, pairs=[2, 40, 999], positions=30)
    agree(drawn.found, {"wave_1": waves[2], "wave_2": waves[40], "wave_3": waves[127]})
    assert drawn.full.choices["dimension"] == 4
    assert isinstance(drawn.picture, Curves)
    lines = drawn.picture.lines
    assert list(lines) == ["dimension 4", "dimension 80", "dimension 254"]
    for pair, line in zip((2, 40, 127), lines.values(), strict=True):
        np.testing.assert_allclose(line, np.sin(drawn.picture.x * 2 * math.pi / waves[pair]), atol=1e-5)
    assert drawn.picture.x.max() == pytest.approx(29, abs=1)


# ---- by hand, and parameters ----


def test_what_is_done_by_hand_is_what_a_pencil_gives(shipped: Shipped) -> None:
    example = {
        "tokens": ["a", "b"], "vectors": [[1, 0], [2, -1]],
        "matrices": [[[1, 2], [3, -1]], [[2, 0], [1, 1]], [[5, 1], [0, 3]]],
    }  # fmt: skip
    # q of b: (2 − 3, 4 + 1) = (−1, 5); keys (2, 0) and (3, −1); scores −2 and −8, divided by √2.
    first = 1 / (1 + math.exp(-6 / math.sqrt(2)))
    found: dict[str, float | str] = {
        "query": "(−1, 5)",
        "key": "(2, 0)",
        "dot": -2.0,
        "scaled": -math.sqrt(2),
        "weight": first,
        "top": "a",
    }
    output = [first * 5 + (1 - first) * 10, first * 1 + (1 - first) * -1]
    tables = {}
    for shown in ("projections", "weights", "output"):
        view = by_hand.by_hand(shipped, shown=shown, **example)  # type: ignore[arg-type]
        agree(view.found, found)
        assert isinstance(view.picture, Rows)
        tables[shown] = view.picture.rows
    assert tables["projections"][2][2] == "(2·1 + −1·3, 2·2 + −1·(−1)) = (−1, 5)"
    assert tables["weights"][0][2] == "−1·2 + 5·0 = −2"
    assert tables["output"][-1][-1] == f"({output[0]:.2f}, {output[1]:.2f})"


def test_the_products_of_a_head_are_those_of_its_query_and_its_best_key(shipped: Shipped) -> None:
    inputs, at = shipped.trace(TEXT).attention("encoder.self", 3), token_at(shipped, "it")
    best = int(weights_of(shipped, "encoder.self")[3, 1, at].argmax())
    terms = (inputs.query[1, at] * inputs.key[1, best]).float().numpy()
    view = by_hand.products(shipped, text=TEXT, head=HEAD, word="it")
    agree(view.found, {"dot": terms.sum(), "scaled": terms.sum() / math.sqrt(32), "largest": terms.max(), "d_k": 32})
    assert isinstance(view.picture, Bars)
    np.testing.assert_allclose(view.picture.series["product"], terms, rtol=1e-4, atol=1e-5)


def test_parameters_are_those_of_the_checkpoints_matrices(shipped: Shipped) -> None:
    sizes = {name: each.numel() for name, each in shipped.translator.model.named_parameters()}

    def of(*parts: str) -> int:
        return sum(size for name, size in sizes.items() if any(part in name for part in parts))

    agree(parameters.matrices(shipped).found, {"counted": of("encoder.layers.0.self_attention."), "one_head": 32_768})
    found = parameters.counted(shipped).found
    agree(found, {
        "counted": sum(sizes.values()), "total": sum(sizes.values()), "attentions": of("_attention."),
        "encoder_layer": of("encoder.layers.1."), "decoder_layer": of("decoder.layers.2."),
        "networks": of("feed_forward."),
    })  # fmt: skip
