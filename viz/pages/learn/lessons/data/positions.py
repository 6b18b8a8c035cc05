"""Views of masks and positions: who may see whom, what becomes of order without positions, the paper's encodings."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import later
from model.analysis.positions import dimension_wave, products_at_distances, rotation, rotation_residual, wavelengths
from model.nn.layers import sinusoidal_encoding
from viz import theme
from viz.access import traces
from viz.pages.learn.lessons.data.shipped import PRESETS
from viz.pages.learn.lessons.pictures import Curves, FullPage, Rows, View
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.text.html import Column
from viz.text.messages import said
from viz.text.written import NAMES, display_token, file_name, signed, written_number

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Pairs of dimensions of which a table is made.
PAIRS: Final = 6


def backwards(shipped: "Shipped", *, text: str, presets: list[str]) -> View:
    """A sentence and its words in reverse order through small models: the translations, and how far encoders differ."""
    rows = []
    found: dict[str, float | str] = {"text": text}
    for preset in presets:
        translator = shipped.experiment(preset)
        trace = traces.trace(translator, text)
        result = later.outputs.read_backwards(translator, trace)
        name = preset.replace("-", "_")
        found |= {
            name: trace.translation, f"{name}_backwards": result.translation, f"{name}_difference": result.difference,
            "backwards": "".join(map(display_token, result.tokens[:-1])).replace("▁", " ").strip(),
            "verdict": said("It stays the same") if result.translation == trace.translation else said("It changes"),
        }  # fmt: skip
        rows.append((PRESETS[preset], trace.translation, result.translation, written_number(result.difference, ".2g")))
    columns = (
        Column(said("small model")), Column(said("in order"), language="de"),
        Column(said("backwards"), language="de"),
        Column(said("encoder differs by"), is_number=True),
    )  # fmt: skip
    caption = said("The encoder's output for each token in both orders: the largest difference in any component.")
    choices = {"text": text, "experiments_tab": "Ablations", "ablations": tuple(presets), "ablations_chosen": True}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("experiments", choices))


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
    return View(picture, found, caption, FullPage("learn", topic="positions"))


def waves(shipped: "Shipped", *, pairs: list[int], positions: int) -> View:
    """The sines of some pairs of dimensions over the positions."""
    width = shipped.translator.config.d_model
    lengths = wavelengths(width).numpy()
    pairs = [min(pair, len(lengths) - 1) for pair in pairs]
    drawn = {pair: dimension_wave(2 * pair, positions, width) for pair in pairs}
    x = next(iter(drawn.values()))[0].numpy()
    found: dict[str, float | str] = {"d_model": width}
    found |= {f"wave_{number}": float(lengths[pair]) for number, pair in enumerate(pairs, 1)}
    lines: dict[str, np.ndarray] = {
        said("dimension {number}", number=2 * pair): values.numpy() for pair, (_, values) in drawn.items()
    }
    picture = Curves(x=x, lines=lines, x_name=said("position"), y_name=said("value"))
    caption = said("Three of the even dimensions; the odd one after each is the cosine of the same angle.")
    return View(picture, found, caption, FullPage("learn", {"dimension": 2 * pairs[0]}, topic="positions"))


def likeness(shipped: "Shipped", *, distance: int) -> View:
    """The dot product of two encodings over how far they are apart."""
    width = shipped.translator.config.d_model
    products = products_at_distances(distance + 1, width).numpy()
    table = sinusoidal_encoding(2 * distance, width).double().numpy()
    elsewhere = (table[:-5] * table[5:]).sum(-1)
    found: dict[str, float | str] = {
        "d_model": width, "self": float(products[0]), "one": float(products[1]), "ten": float(products[10]),
        "far": float(products[-1]), "distance": distance, "five": float(products[5]),
        "miss": float(np.abs(elsewhere - products[5]).max()),
    }  # fmt: skip
    is_alike = float(found["miss"]) < 1e-3
    found["verdict"] = said("Only their distance") if is_alike else said("Their distance and their positions")
    both = np.concatenate([products[:0:-1], products])
    x = np.arange(-distance, distance + 1, dtype=float)
    product = said("dot product")
    picture = Curves(x=x, lines={product: both}, x_name=said("distance"), y_name=product, upright=0.0)
    caption = said("The dot product of the encodings of any two positions, by their distance.")
    return View(picture, found, caption, FullPage("learn", topic="positions"))


def shift(shipped: "Shipped", *, position: int, by: int) -> View:
    """One position's encoding turned by the rotation of a shift, beside the encoding of the shifted position."""
    width = shipped.translator.config.d_model
    degrees = 360 * by / wavelengths(width).numpy()
    table = sinusoidal_encoding(by + 1, width, first=position).double().numpy().reshape(-1, len(degrees), 2)
    start, *_, end = table
    turned = np.einsum("irc,ic->ir", rotation(by, width).numpy(), start)
    shown = np.unique(np.linspace(0, len(degrees) - 1, PAIRS).round().astype(int))
    rows = tuple(
        (
            f"{2 * pair}, {2 * pair + 1}", f"{degrees[pair] % 360:.1f}°", _pair(start[pair]),
            _pair(turned[pair]), _pair(end[pair]),
        )
        for pair in shown
    )  # fmt: skip
    residual = rotation_residual(position + by, width, shift=by)
    found: dict[str, float | str] = {
        "position": position, "by": by, "to": position + by, "pairs": len(degrees), "miss": residual.float32,
        "exact": residual.float64, "fastest": float(degrees[0] % 360), "slowest": float(degrees[-1]),
    }  # fmt: skip
    columns = (
        Column(said("dimensions")), Column(said("rotated by"), is_number=True),
        Column(said("at {position}", position=position), is_number=True), Column(said("rotated"), is_number=True),
        Column(said("at {position}", position=position + by), is_number=True),
    )  # fmt: skip
    caption = said("Each pair of dimensions is a point on a circle, (sine, cosine). The last two columns agree.")
    full = FullPage("learn", {"position": position, "shift": by}, topic="positions")
    return View(Rows(columns, rows), found, caption, full)


def _pair(values: np.ndarray) -> str:
    return f"{signed(values[0], 3)}, {signed(values[1], 3)}"


def mask(shipped: "Shipped", *, text: str, site: str) -> View:
    """The mask of an attention: light where a query may look."""
    trace = shipped.trace(text)
    allowed = trace.mask(site, 0).numpy()
    largest = max(
        float(np.where(allowed, 0.0, trace.weights(site, layer).numpy()).max())
        for layer in range(trace.layers_of(site))
    )
    rows, keys = trace.row_names(site), trace.axis_tokens(site)[1]
    middle = len(rows) // 2
    found: dict[str, float | str] = {
        "rows": len(rows),
        "keys": len(keys),
        "forbidden": int((~allowed).sum()),
        "forbidden_weight": largest,
        "seen_first": int(allowed[0].sum()),
        "seen_last": int(allowed[-1].sum()),
        "seen_middle": int(allowed[middle].sum()),
        "position": middle + 1,
    }
    found["verdict"] = (
        said("Itself and what comes before it")
        if not np.triu(allowed, 1).any() and allowed.diagonal().all()
        else said("Everything")
    )
    picture = MatrixData(
        values=allowed.astype(np.float32),
        row_tokens=rows,
        column_tokens=keys,
        scale=ColourScale(said("allowed"), theme.SEQUENTIAL, 0.0, 1.0, 1.0, ((0.0, said("no")), (1.0, said("yes")))),
        title=said("Mask of the {attention}", attention=NAMES[site].phrase),
        label=said("Mask of the {attention} as a heatmap.", attention=NAMES[site].phrase),
        row_name=said("query"),
        column_name=said("key"),
        rows_write=trace.rows_write(site),
        file_name=file_name("mask", site, sentence=text),
    )
    caption = (
        said("Dark: the score is −∞, so the weight is exactly 0. Light: this query may attend to this key.")
        if not allowed.all()
        else said("All cells are light: every query may attend to every key.")
    )
    return View(picture, found, caption, FullPage("learn", {"text": text}, topic="masks"))


def shifted(shipped: "Shipped", *, text: str) -> View:
    """What the decoder reads and writes at each position: the same tokens, shifted right by one."""
    trace = shipped.trace(text)
    read = [display_token(token) for token in trace.target_tokens]
    wrote = [display_token(step.token) for step in trace.steps]
    rows = tuple((str(at), one, other) for at, (one, other) in enumerate(zip(read, wrote, strict=False), 1))
    (first, *then), (first_written, *_, last_written) = read, wrote
    found: dict[str, float | str] = {
        "first": first, "first_written": first_written, "last_written": last_written, "positions": len(rows),
        "differing": sum(one != other for one, other in zip(then, wrote, strict=False)),
        "translation": trace.translation,
    }  # fmt: skip
    picture = Rows((Column(said("position"), is_number=True), Column(said("reads")), Column(said("writes"))), rows)
    caption = said("Each row is one step; the token it writes is read in the next.")
    return View(picture, found, caption, FullPage("decoding", {"text": text, "decoding_tab": "Film"}))


def padding(shipped: "Shipped", *, texts: list[str]) -> View:
    """Sentences of different lengths as one batch: which positions are real, and whether company changes the result."""
    traces = [shipped.trace(text) for text in texts]
    lengths = [len(trace.source_tokens) for trace in traces]
    longest = max(lengths)
    real = np.array([[float(at < length) for at in range(longest)] for length in lengths], np.float32)
    together = shipped.translator.translate_all(texts)
    found: dict[str, float | str] = {
        "sentences": len(texts), "longest": longest, "shortest": min(lengths), "padded": int((real == 0).sum()),
        "same": sum(trace.translation == other for trace, other in zip(traces, together, strict=True)),
    }  # fmt: skip
    found["verdict"] = said("No, it does not") if found["same"] == len(texts) else said("Yes, it does")
    picture = MatrixData(
        values=real,
        row_tokens=[" ".join(text.split()[:4]) + " …" for text in texts],
        column_tokens=[str(at) for at in range(1, longest + 1)],
        scale=ColourScale(
            said("token or padding"), theme.SEQUENTIAL, 0.0, 1.0, 1.0, ((0.0, said("pad")), (1.0, said("token")))
        ),
        title=said("A batch of sentences"),
        label=said("Which positions of a batch contain tokens and which padding, as a heatmap."),
        row_name=said("sentence"),
        column_name=said("position"),
        file_name=file_name("padding"),
    )
    caption = said(
        "Rows are sentences, columns positions. Light: a token. Dark: padding, a masked key: {padded} of "
        "{all} positions.",
        padded=found["padded"], all=real.size,
    )  # fmt: skip
    return View(picture, found, caption, FullPage("learn", {"text": texts[0]}, topic="masks"))
