"""Views of positions: what becomes of order without them, the paper's encodings, and learned ones."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import later
from model.analysis.positions import dimension_wave, products_at_distances, rotation, rotation_residual, wavelengths
from model.nn.layers import sinusoidal_encoding
from viz.access import traces
from viz.pages.learn.lessons.data.experiments import experiment
from viz.pages.learn.lessons.data.shipped import PRESETS
from viz.pages.learn.lessons.pictures import Curves, FullPage, Rows, View
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.text.html import Column
from viz.text.messages import said
from viz.text.sites import file_name
from viz.text.token_text import display_token

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Pairs of dimensions of which a table is made.
PAIRS: Final = 6


def backwards(shipped: "Shipped", *, text: str, presets: list[str]) -> View:
    """A sentence and its words in reverse order through small models: the translations, and how far encoders differ."""
    rows = []
    found: dict[str, float | str] = {"text": text}
    for preset in presets:
        translator = experiment(shipped, preset)
        trace = traces.trace(translator, text)
        result = later.outputs.read_backwards(translator, trace)
        name = preset.replace("-", "_")
        found |= {
            name: trace.translation, f"{name}_backwards": result.translation, f"{name}_difference": result.difference,
            "backwards": "".join(map(display_token, result.tokens[:-1])).replace("▁", " ").strip(),
            "verdict": said("It stays the same") if result.translation == trace.translation else said("It changes"),
        }  # fmt: skip
        rows.append((PRESETS[preset], trace.translation, result.translation, f"{result.difference:.1e}"))
    columns = (
        Column(said("small model")), Column(said("in order"), language="de"),
        Column(said("backwards"), language="de"),
        Column(said("encoder differs by"), is_number=True),
    )  # fmt: skip
    caption = said("The encoder's output for each token in both orders: the largest difference of any of its numbers.")
    choices = {"text": text, "paper_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("paper", choices))


def encodings(shipped: "Shipped", *, positions: int) -> View:
    """The formula's encodings as a heatmap."""
    width = shipped.translator.config.d_model
    values, waves = sinusoidal_encoding(positions, width).numpy(), wavelengths(width).numpy()
    found: dict[str, float | str] = {
        "d_model": width, "positions": positions, "shortest": float(waves[0]), "longest": float(waves[-1]),
        "largest": float(np.abs(values).max()), "length": float(np.linalg.norm(values, axis=-1).mean()),
        "slow": int((waves > positions).sum()), "pairs": len(waves),
    }  # fmt: skip
    picture = MatrixData(
        values=values,
        row_tokens=[str(position) for position in range(positions)],
        column_tokens=[str(dimension) for dimension in range(width)],
        scale=ColourScale.signed(said("value"), 1.0),
        title=said("Positional encodings"),
        label=said("The sinusoidal positional encodings as a heatmap."),
        row_name=said("position"),
        column_name=said("dimension"),
        file_name=file_name("positional encodings"),
    )
    caption = said("Rows are positions, columns dimensions: fast waves on the left, slow ones on the right.")
    return View(picture, found, caption, FullPage("paper", {"paper_tab": "Positions"}))


def waves(shipped: "Shipped", *, pairs: list[int], positions: int) -> View:
    """The sines of some pairs of dimensions over the positions."""
    width = shipped.translator.config.d_model
    lengths = wavelengths(width).numpy()
    pairs = [min(pair, len(lengths) - 1) for pair in pairs]
    drawn = {pair: dimension_wave(2 * pair, positions, width) for pair in pairs}
    x = next(iter(drawn.values()))[0].numpy()
    found: dict[str, float | str] = {"first": float(lengths[pairs[0]]), "d_model": width}
    found |= {f"wave_{number}": float(lengths[pair]) for number, pair in enumerate(pairs, 1)}
    found |= {"ratio": float(lengths[pairs[-1]] / lengths[pairs[0]])}
    lines: dict[str, np.ndarray] = {
        said("dimension {number}", number=2 * pair): values.numpy() for pair, (_, values) in drawn.items()
    }
    picture = Curves(x=x, lines=lines, x_name=said("position"), y_name=said("value"))
    caption = said("Three of the even dimensions; the odd one after each is the cosine of the same angle.")
    choices = {"paper_tab": "Positions", "dimension": 2 * pairs[0]}
    return View(picture, found, caption, FullPage("paper", choices))


def likeness(shipped: "Shipped", *, distance: int) -> View:
    """The dot product of two encodings over how far they are apart."""
    width = shipped.translator.config.d_model
    products = products_at_distances(distance + 1, width).numpy()
    table = sinusoidal_encoding(2 * distance, width).double().numpy()
    elsewhere = [float(table[start] @ table[start + 5]) for start in (0, distance // 2, distance)]
    found: dict[str, float | str] = {
        "d_model": width, "self": float(products[0]), "one": float(products[1]), "ten": float(products[10]),
        "far": float(products[-1]), "distance": distance, "five": float(products[5]),
        "miss": max(abs(value - float(products[5])) for value in elsewhere),
    }  # fmt: skip
    is_alike = float(found["miss"]) < 1e-3
    found["verdict"] = said("Only their distance") if is_alike else said("Their distance and where they are")
    both = np.concatenate([products[:0:-1], products])
    x = np.arange(-distance, distance + 1, dtype=float)
    product = said("dot product")
    picture = Curves(x=x, lines={product: both}, x_name=said("distance"), y_name=product, upright=0.0)
    caption = said("The dot product of the encodings of any two positions, by their distance.")
    return View(picture, found, caption, FullPage("paper", {"paper_tab": "Positions"}))


def shift(shipped: "Shipped", *, position: int, by: int) -> View:
    """One position's encoding turned by the rotation of a shift, beside the encoding of the shifted position."""
    width = shipped.translator.config.d_model
    table = sinusoidal_encoding(position + by + 1, width).double().numpy().reshape(-1, width // 2, 2)
    turned = np.einsum("irc,ic->ir", rotation(by, width).numpy(), table[position])
    shown = np.linspace(0, width // 2 - 1, min(PAIRS, width // 2)).round().astype(int)
    degrees = 360 * by / wavelengths(width).numpy()
    rows = tuple(
        (
            f"{2 * pair}, {2 * pair + 1}", f"{degrees[pair] % 360:.1f}°", _pair(table[position, pair]),
            _pair(turned[pair]), _pair(table[position + by, pair]),
        )
        for pair in shown
    )  # fmt: skip
    residual = rotation_residual(position + by, width, shift=by)
    found: dict[str, float | str] = {
        "position": position, "by": by, "to": position + by, "pairs": width // 2, "miss": residual.float32,
        "exact": residual.float64, "fastest": float(degrees[0] % 360), "slowest": float(degrees[-1]),
    }  # fmt: skip
    columns = (
        Column(said("dimensions")), Column(said("rotated by"), is_number=True),
        Column(said("at {position}", position=position), is_number=True), Column(said("rotated"), is_number=True),
        Column(said("at {position}", position=position + by), is_number=True),
    )  # fmt: skip
    caption = said("Each pair of dimensions is a point on a circle, (sine, cosine). The last two columns agree.")
    choices = {"paper_tab": "Positions", "position": position, "shift": by}
    return View(Rows(columns, rows), found, caption, FullPage("paper", choices))


def _pair(values: np.ndarray) -> str:
    return f"{values[0]:+.3f}, {values[1]:+.3f}"
