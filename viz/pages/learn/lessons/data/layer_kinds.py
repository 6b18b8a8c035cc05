"""Views of the layers of Table 1: what is counted of them, how far influence comes, and how far heads really look."""

from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from model.analysis import layer_kinds
from model.analysis.layer_kinds import (
    LENGTH,
    PAPER_EXPONENTS,
    Kind,
    Settings,
    layers_between_ends,
    multiply_adds,
    sequential_steps,
)
from model.analysis.scoring import KEYS, random_saturation
from viz.pages.learn.lessons.pictures import Bars, Curves, FullPage, Rows, View
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.server.caches import cached
from viz.text.html import Column
from viz.text.messages import Message, said, said_plural
from viz.text.written import ENCODER, NamedHead, file_name, head_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jaxtyping import Float

    from viz.pages.learn.lessons.data.shipped import Shipped

#: d_k at which random dot products are drawn.
WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
#: Positions at which counts are drawn.
LENGTHS: Final = tuple(2**power for power in range(3, 14))
#: What the paper's Table 1 compares, and the convolution once more with dilations.
TABLE: Final[tuple[Kind, ...]] = ("self-attention", "recurrent", "convolution", "restricted")
#: What each kind of layer is called.
NAMES: "Final[Mapping[Kind, Message]]" = {
    "self-attention": said("self-attention"),
    "recurrent": said("recurrent"),
    "convolution": said("convolution"),
    "dilated": said("dilated"),
    "restricted": said("restricted"),
}
KERNEL, WINDOW = 3, 9
#: Positions that count as near in what is said of influence.
NEAR: Final = 8
_FULL: Final = FullPage("learn", topic="table_one")


def saturation(shipped: "Shipped", *, measure: Literal["entropy", "gradient"], additive: bool = False) -> View:
    """Rows of weights from random vectors by their length, divided by √d_k and not: their entropy or their gradient.

    `additive`: whether the paper's other function, additive attention with random weights, is drawn too.
    """
    names = {said("divided by √dₖ"): "scaled", said("not divided"): "dot"}
    names |= {said("additive"): "additive"} if additive else {}
    lines: dict[str, np.ndarray] = {
        name: np.array([float(getattr(random_saturation(kind, width).rows, measure).median()) for width in WIDTHS])
        for name, kind in names.items()
    }
    divided, raw, *_ = lines.values()
    found: dict[str, float | str] = {
        "wide": max(WIDTHS), "keys": KEYS, "most": float(np.log2(KEYS)), "last": float([*lines.values()][-1][-1]),
        "divided": float(divided[-1]), "raw": float(raw[-1]), "divided_narrow": float(divided[0]),
        "verdict": said("It almost vanishes") if raw[-1] < 0.1 * raw[0] else said("It stays the same"),
    }  # fmt: skip
    y_names = {"entropy": said("entropy of a row, bits"), "gradient": said("‖∂ weights / ∂ scores‖")}
    picture = Curves(
        x=np.array(WIDTHS, float), lines=lines, x_name=said("dₖ, components of a query"), y_name=y_names[measure],
        log_x=True,
    )  # fmt: skip
    captions = {
        "entropy": said("Median over rows of random queries and keys. 0 bits: one key has all the weight."),
        "gradient": said("Median over rows of random queries and keys. 0: the weights do not react to the scores."),
    }
    return View(picture, found, captions[measure], FullPage("learn", topic="scores"))


def operations(shipped: "Shipped", *, width: int) -> View:
    """The products of a layer over the number of positions, as Table 1 counts them."""
    lengths = np.array(LENGTHS, float)
    factors = {"convolution": KERNEL, "restricted": WINDOW}
    lines: dict[str, np.ndarray] = {
        NAMES[kind]: factors.get(kind, 1) * lengths**of_length * float(width) ** of_width
        for kind, (of_length, of_width) in ((kind, PAPER_EXPONENTS[kind]) for kind in TABLE)
    }
    short = int(np.argmin(np.abs(lengths - width / 8)))
    cheaper = lines["self-attention"] < lines["recurrent"]
    found: dict[str, float | str] = {
        "width": width, "short": lengths[short], "attention": lines["self-attention"][short],
        "recurrent": lines["recurrent"][short], "ratio": lines["recurrent"][short] / lines["self-attention"][short],
        "below": float(lengths[cheaper].max(initial=0)), "above": float(lengths[~cheaper].min(initial=np.inf)),
        "kernel": KERNEL, "window": WINDOW,
    }  # fmt: skip
    found["verdict"] = said("Self-attention") if cheaper[short] else said("The recurrent layer")
    picture = Curves(
        x=lengths, lines=lines, x_name=said("n, positions"), y_name=said("products"), upright=float(width),
        log_x=True, log_y=True,
    )  # fmt: skip
    caption = said(
        "n²d, nd², knd² and rnd at d = {width}. k = {kernel} and r = {window} are examples; the paper names no values. "
        "Dotted line: n = d.",
        width=width, kernel=KERNEL, window=WINDOW,
    )  # fmt: skip
    return View(picture, found, caption, _FULL)


def projections(shipped: "Shipped", *, text: str, width: int) -> View:
    """All products of a layer over a sentence of this length, with the projections that Table 1 leaves out."""
    length = len(shipped.trace(text).source_tokens)
    settings = Settings(KERNEL, WINDOW)
    counts = {kind: multiply_adds(kind, length, width, settings) for kind in TABLE}
    table, projected = 2 * length * length * width, 4 * length * width * width
    found: dict[str, float | str] = {
        "length": length, "width": width, "scores": table, "projections": projected,
        "share": table / (table + projected), "crossing": 2 * width, "attention": counts["self-attention"],
        "ratio": counts["recurrent"] / counts["self-attention"],
    }  # fmt: skip
    whole = (said("total, {kind}", kind=NAMES[kind]) for kind in TABLE)
    labels = [said("scores and sums: 2n²d"), said("projections: 4nd²"), *whole]
    values = np.array([table, projected, *counts.values()]) / 1e6
    picture = Bars(
        labels=labels, series={said("products"): values}, number=said("multiplications (millions)"), digits=2, marked=0
    )
    caption = said(
        "One layer over {length} tokens at d = {width}. The first two bars are the parts of the third. The recurrent "
        "layer is a GRU, with 6nd² products.",
        length=length, width=width,
    )  # fmt: skip
    return View(picture, found, caption, _FULL)


def in_turn(shipped: "Shipped", *, text: str, shown: Literal["steps", "paths", "both"] = "both") -> View:
    """For a sentence: the sequential steps of each kind of layer, and the layers until its first word meets its last.

    `shown`: which of the two the table has.
    """
    length = len(shipped.trace(text).source_tokens)
    settings = Settings(KERNEL, WINDOW)
    paper: dict[Kind, tuple[str, str | Message]] = {
        "self-attention": ("O(1)", "O(1)"), "recurrent": ("O(n)", "O(n)"), "convolution": ("O(1)", said("O(n/k), §4")),
        "dilated": ("O(1)", said("O(logₖ n), Table 1")), "restricted": ("O(1)", "O(n/r)"),
    }  # fmt: skip
    kinds: tuple[Kind, ...] = ("self-attention", "recurrent", "convolution", "dilated", "restricted")
    steps = {kind: sequential_steps(kind, length) for kind in kinds}
    layers = {kind: layers_between_ends(kind, length, settings) for kind in kinds}
    found: dict[str, float | str] = {"length": length, "kernel": KERNEL, "window": WINDOW}
    found |= {f"{kind.replace('-', '_')}_steps": steps[kind] for kind in kinds}
    found |= {f"{kind.replace('-', '_')}_layers": layers[kind] for kind in kinds}
    columns = (
        Column(said("layer")), Column(said("sequential operations"), is_number=True), Column(said("Table 1")),
        Column(said("layers to connect both ends"), is_number=True), Column(said("longest path, §4")),
    )  # fmt: skip
    rows = [(NAMES[kind], str(steps[kind]), paper[kind][0], str(layers[kind]), paper[kind][1]) for kind in kinds]
    places = {"steps": (0, 1, 2), "paths": (0, 3, 4), "both": range(len(columns))}[shown]
    caption = said(
        "Counted for {length} tokens, k = {kernel}, r = {window}. One recurrent layer alone takes n steps.",
        length=length, kernel=KERNEL, window=WINDOW,
    )  # fmt: skip
    table = Rows(tuple(columns[at] for at in places), tuple(tuple(row[at] for at in places) for row in rows))
    return View(table, found, caption, _FULL)


def influence(shipped: "Shipped", *, kind: Kind, layers: int) -> View:
    """How much each input of a stack of random layers matters to each output, by the derivative."""
    depths, reaches = _influences(kind, layers)
    *_, (values, reach) = zip(depths, reaches, strict=True)
    first_reach, *_ = reaches
    found: dict[str, float | str] = {
        "kind": kind, "layers": layers, "positions": LENGTH, "reach": reach, "reach_1": first_reach,
        "kernel": KERNEL, "nonzero": float((values > 0).mean()), "last": LENGTH - 1,
        "near": NEAR, "distant": float(values[-1, : -1 - NEAR].sum() / max(float(values[-1].sum()), 1e-30)),
    }  # fmt: skip
    name = NAMES[kind]
    picture = MatrixData(
        values=values,
        row_tokens=[str(position + 1) for position in range(LENGTH)],
        column_tokens=[str(position + 1) for position in range(LENGTH)],
        scale=ColourScale.root(said("influence"), float(values.max())),
        title=said_plural(
            "Influence after {count} layer: {kind}", "Influence after {count} layers: {kind}", layers, kind=name
        ),
        label=said_plural(
            "{kind}: how much each input matters to each output after {count} layer.",
            "{kind}: how much each input matters to each output after {count} layers.",
            layers,
            kind=name,
        ),
        row_name=said("output"),
        column_name=said("input"),
        file_name=file_name("influence", kind),
    )
    caption = said(
        "Rows are outputs, columns inputs of layers with random weights. Dark is exactly 0: no path leads there."
    )
    return View(picture, found, caption, _FULL)


def looks_far(shipped: "Shipped", *, text: str) -> View:
    """How far away the key with the largest weight is in each head of the first layer, at the farthest.

    The row named is the surest of those that a restricted attention would cut off.
    """
    trace = shipped.trace(text)
    weights = trace.weights(ENCODER, 0).numpy()
    names = [token.removeprefix("▁") for token in trace.source_tokens]
    distances = np.abs(weights.argmax(-1) - np.arange(len(names)))
    farthest = distances.max(-1)
    beyond = np.where(distances > WINDOW // 2, weights.max(-1), 0.0)
    head, row = map(int, np.unravel_index(beyond.argmax(), beyond.shape))
    found: dict[str, float | str] = {
        "length": len(names), "farthest": float(distances[head, row]), "head": NamedHead(ENCODER, 0, head),
        "from": names[row], "to": names[int(weights[head, row].argmax())], "weight": float(weights[head, row].max()),
        "far": int((farthest > WINDOW // 2).sum()), "heads": len(farthest), "reach": WINDOW // 2, "window": WINDOW,
        "mean": float(distances.mean()),
    }  # fmt: skip
    far = int(found["far"])
    found["verdict"] = said("All") if far == len(farthest) else said("Some") if far else said("None")
    labels = [head_label(0, number) for number in range(len(farthest))]
    picture = Bars(
        labels=labels, series={said("tokens"): farthest.astype(float)}, number=said("tokens away"), digits=0,
        marked=head,
    )  # fmt: skip
    caption = said(
        "For each head of the first encoder layer: the largest distance from a token to the key with its largest "
        "weight."
    )
    choices = {"text": text, "site": ENCODER, "layer": 0, "head": head, "token": row}
    return View(picture, found, caption, FullPage("attention", choices))


@cached(max_entries=16)
def _influences(kind: Kind, layers: int) -> "tuple[tuple[Float[np.ndarray, 'output input'], ...], tuple[int, ...]]":
    """|∂ output / ∂ input| after 1 to so many layers, and how many positions away the farthest influence comes from."""
    found = layer_kinds.influence(kind, layers, Settings(KERNEL, WINDOW))
    return tuple(of_depth.numpy() for of_depth in found), tuple(map(layer_kinds.reach, found))
