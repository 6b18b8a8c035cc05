"""Views of one query's weights: over the keys, in two sentences, and how they come about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.access import attention, models
from viz.pages.learn.lessons.data.shipped import of_weights
from viz.pages.learn.lessons.lesson import OfHead
from viz.pages.learn.lessons.pictures import Bars, FullPage, LiveRow, View
from viz.text.messages import Message, said
from viz.text.written import NAMES, NamedHead, display_tokens, head_label, row_parts, spoken

if TYPE_CHECKING:
    from model import Trace
    from viz.pages.learn.lessons.data.shipped import Shipped

_WEIGHT: Final = said("weight")


def row(shipped: "Shipped", *, text: str, head: str, word: str, told: Sequence[str] = ()) -> View:
    """The weights of one word over all that it can look at; those on the words `told` are found as `of_WORD`."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    weights = trace.weights(site, layer, [number], [at])[0, 0].numpy()
    found: dict[str, float | str] = (
        of_weights(weights, trace, site, NamedHead(site, layer, number))
        | _head(site, layer, number)
        | {"row": trace.row_names(site)[at], "word": word}
        | _of_words(weights, shipped, trace, NamedHead(site, layer, number), told)
    )
    picture = _over_keys(trace, site, {_WEIGHT: weights}, int(weights.argmax()))
    return View(picture, found, _reads(found), _opened(text, site, layer, number, at))


def two_rows(shipped: "Shipped", *, text: str, other: str, head: str, word: str, other_word: str) -> View:
    """The weights of a word in two sentences of equal length that differ in a word or two."""
    first, second = shipped.trace(text), shipped.trace(other)
    site, layer, number = shipped.head(first, head)
    rows = [shipped.row(first, site, word), shipped.row(second, site, other_word)]
    values = [
        trace.weights(site, layer, [number], [at])[0, 0].numpy()
        for trace, at in zip((first, second), rows, strict=True)
    ]
    tokens = [display_tokens(trace.axis_tokens(site)[1]) for trace in (first, second)]
    labels = [a if a == b else f"{a} / {b}" for a, b in zip(*tokens, strict=True)]
    name = NamedHead(site, layer, number)
    one, two = (of_weights(weights, trace, site, name) for weights, trace in zip(values, (first, second), strict=True))
    found: dict[str, float | str] = (
        one | {f"other_{name}": value for name, value in two.items()} | _head(site, layer, number)
    )
    found |= {"translation": first.translation, "other_translation": second.translation}
    changed = [set(a) - set(b) for a, b in ((_words(text), _words(other)), (_words(other), _words(text)))]
    names = [
        f"… {' '.join(word for word in _words(of) if word in own)}"
        for of, own in zip((text, other), changed, strict=True)
    ]
    picture = Bars(labels=labels, series=dict(zip(names, values, strict=True)), number=_WEIGHT, top=1.0)
    choices = {"text": text, "other_text": other, "site": site, "layer": layer, "head": number}
    return View(picture, found, _reads(found), FullPage("coreference", choices))


def derived(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """The way to one row's weights: q·k of every key, divided by √d_k, and after the softmax; each can be dragged."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    way = attention.derived_row(trace, site, layer, number, at, scaled=True, masked=True)
    keys, weights, root = trace.axis_tokens(site)[1], way.weights.numpy(), len(way.query) ** 0.5
    first = int(weights.argmax())
    found: dict[str, float | str] = _of_row(weights, trace, site, layer, number) | {
        "row": trace.row_names(site)[at],
        "word": word,
        "d_k": len(way.query),
        "root": root,
        "dot": float(way.dots[first]),
        "scaled": float(way.scaled[first]),
        "sum": float(weights.sum()),
    }  # fmt: skip
    picture = LiveRow(
        labels=keys,
        scores=way.dots.tolist(),
        divisor=root,
        least=1.0,
        most=4 * root,
        score_name="q·k",
        divisor_name=said("divisor, here √dₖ = {root:.2f}", root=root),
        share_name=_WEIGHT,
        label=said("Scores and weights of “{row}”, which can be dragged", row=found["row"]),
    )
    caption = said(
        "All keys for the row “{row}” in {head}. Drag a score or the divisor: the weights follow.",
        row=found["row"], head=found["head"],
    )  # fmt: skip
    full = _opened(text, site, layer, number, at)
    return View(picture, found, caption, full.on("learn", learn_tab="The Transformer", depth="head"))


def unscaled(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """One row's weights as the model has them, and from the same queries and keys without the division by √d_k."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    series: dict[str, np.ndarray] = {
        name: attention.derived_row(trace, site, layer, number, at, scaled=scaled, masked=True).weights.numpy()
        for name, scaled in ((said("divided by √dₖ"), True), (said("not divided"), False))
    }
    divided, raw = series.values()
    found: dict[str, float | str] = {
        **of_weights(divided, trace, site, NamedHead(site, layer, number)),
        **{
            f"raw_{name}": value for name, value in of_weights(raw, trace, site, NamedHead(site, layer, number)).items()
        },
        **_head(site, layer, number),
        "word": word,
    }
    found["direction"] = said("It grows") if raw.max() > divided.max() else said("It shrinks")
    picture = _over_keys(trace, site, series)
    full = _opened(text, site, layer, number, at)
    return View(picture, found, _reads(found), replace(full, page="learn", topic="scores"))


def head_output(shipped: "Shipped", *, text: str, head: str, word: str, told: Sequence[str] = ()) -> View:
    """How long each weighted value is: what each key adds to what the head hands on; `told` as of `row`."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    way = attention.derived_row(trace, site, layer, number, at, scaled=True, masked=True)
    lengths = way.weighted_values.norm(dim=-1).numpy()
    largest = int(way.weights.argmax())
    to_value = float((way.head_output - way.values[largest]).norm() / way.values[largest].norm())
    found: dict[str, float | str] = _of_row(way.weights.numpy(), trace, site, layer, number) | {
        "word": word,
        "length": float(way.head_output.norm()),
        "share": float(lengths.max() / lengths.sum()),
        "distance": to_value,
        "d_v": way.values.shape[1],
        "most": spoken(trace.axis_tokens(site)[1][int(lengths.argmax())]),
        **_of_words(way.weights.numpy(), shipped, trace, NamedHead(site, layer, number), told),
    }  # fmt: skip
    picture = Bars(
        labels=display_tokens(trace.axis_tokens(site)[1]),
        series={said("norm"): lengths},
        number=said("norm of weight × value"),
        marked=int(lengths.argmax()),
    )
    caption = said(
        "For each key, the norm of its weight × its value vector in {head}; the sum of these vectors is the head's "
        "output.",
        head=found["head"],
    )
    full = _opened(text, site, layer, number, at)
    return View(picture, found, caption, full.on("learn", learn_tab="The Transformer", depth="head"))


def sharp_and_soft(shipped: "Shipped", *, text: str, site: str) -> View:
    """The surest row of all heads of a site, and the one that is spread most, over the same keys."""
    trace = shipped.trace(text)
    rows = attention.all_weights(trace, site)
    entropy = -(rows * np.log2(np.maximum(rows, 1e-12))).sum(-1)
    low, high = (
        tuple(map(int, np.unravel_index(index, entropy.shape))) for index in (entropy.argmin(), entropy.argmax())
    )
    names = [row_parts(name, writes=trace.rows_write(site))[1] for name in trace.row_names(site)]
    sharp, soft = (
        _row_of(shipped, NamedHead(site, layer, head), spoken(names[row])) for layer, head, row in (low, high)
    )
    series: dict[str, np.ndarray] = {sharp: rows[low], soft: rows[high]}
    found: dict[str, float | str] = {
        "sharp": sharp, "soft": soft, "sharp_weight": float(rows[low].max()), "soft_weight": float(rows[high].max()),
        "sharp_keys": float(2 ** entropy[low]), "soft_keys": float(2 ** entropy[high]), "keys": rows.shape[-1],
    }  # fmt: skip
    picture = _over_keys(trace, site, series)
    message = (
        "Two rows of the {attention}: 2 to the power of the entropy is the number of keys that a row effectively "
        "spreads over."
    )
    caption = said(message, attention=NAMES[site].phrase)
    layer, head, _ = high
    choices = {"text": text, "site": site, "layer": layer, "head": head}
    return View(picture, found, caption, FullPage("attention", choices))


def _row_of(shipped: "Shipped", head: NamedHead, token: str) -> Message:
    """A row by its token and its head, and whether that was taught what it does."""
    if models.taught_head(shipped.choice, head.site) == (head.layer, head.head):
        return said("“{token}” in {head} (taught, lesson 13)", token=token, head=head)
    return said("“{token}” in {head}", token=token, head=head)


def two_heads(shipped: "Shipped", *, text: str, head: str, other: str, word: str) -> View:
    """The weights of one word in two heads of the same attention."""
    trace = shipped.trace(text)
    heads = shipped.head(trace, head), shipped.head(trace, other)
    (site, *_), opened = heads
    at = shipped.row(trace, site, word)
    rows = [trace.weights(site, layer, [number], [at])[0, 0].numpy() for _, layer, number in heads]
    one, two = (of_weights(weights, trace, site, NamedHead(*of)) for weights, of in zip(rows, heads, strict=True))
    names = [head_label(layer, number) for _, layer, number in heads]
    found: dict[str, float | str] = {
        **one, **{f"other_{name}": value for name, value in two.items()}, **_head(*heads[0]),
        "other_head": NamedHead(*opened), "word": word, "overlap": float(np.minimum(*rows).sum()),
    }  # fmt: skip
    picture = _over_keys(trace, site, dict(zip(names, rows, strict=True)))
    caption = said(
        "The same word in two heads of the {attention}; each head's bars sum to 1.", attention=NAMES[site].phrase
    )
    return View(picture, found, caption, _opened(text, *opened, at))


def averaged(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """The weights of one word in a head, and the mean of all heads of its layer, as a single head would blur them."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    rows = trace.weights(site, layer, rows=[at])[:, 0].numpy()
    mean = rows.mean(0)
    all_heads = of_weights(mean, trace, site, None)
    found: dict[str, float | str] = {
        **_of_row(rows[number], trace, site, layer, number),
        **{f"mean_{name}": value for name, value in all_heads.items()},
        "word": word, "heads": len(rows),
        "verdict": said("It falls") if mean.max() < rows[number].max() else said("It grows"),
    }  # fmt: skip
    name = said("mean of L{layer}'s {heads} heads", layer=layer + 1, heads=len(rows))
    series: dict[str, np.ndarray] = {head_label(layer, number): rows[number], name: mean}
    picture = _over_keys(trace, site, series)
    caption = said("One head's row, and the mean of all heads of its layer over the same keys.")
    return View(picture, found, caption, _opened(text, site, layer, number, at))


def unmasked(shipped: "Shipped", *, text: str, head: str, word: str) -> View:
    """A row of the decoder's self-attention as the model has it, and from the same scores without the mask."""
    trace, (site, layer, number), at = shipped.looking(text, head, word)
    series: dict[str, np.ndarray] = {
        name: attention.derived_row(trace, site, layer, number, at, scaled=True, masked=masked).weights.numpy()
        for name, masked in ((said("masked"), True), (said("without the mask"), False))
    }
    masked, free = series.values()
    found: dict[str, float | str] = {
        **_of_row(masked, trace, site, layer, number), "row": trace.row_names(site)[at],
        "word": word, "later": float(masked[at + 1 :].sum()), "free_later": float(free[at + 1 :].sum()),
    }  # fmt: skip
    picture = _over_keys(trace, site, series)
    caption = said(
        "Keys from top to bottom in the order of the translation; “{word}” and those after it are not written yet.",
        word=word,
    )
    full = _opened(text, site, layer, number, at)
    return View(picture, found, caption, full.on("learn", learn_tab="The Transformer", depth="head"))


def _over_keys(trace: "Trace", site: str, series: Mapping[str, np.ndarray], marked: int | None = None) -> Bars:
    """Weights as bars, one a key."""
    labels = display_tokens(trace.axis_tokens(site)[1])
    return Bars(labels=labels, series=series, number=_WEIGHT, top=1.0, marked=marked)


def _head(site: str, layer: int, head: int) -> dict[str, float | str]:
    return {"head": NamedHead(site, layer, head), "attention": NAMES[site].phrase}


def _of_row(
    weights: Float[np.ndarray, "key"], trace: "Trace", site: str, layer: int, head: int
) -> dict[str, float | str]:
    """What a row of a head says, with the head."""
    return of_weights(weights, trace, site, NamedHead(site, layer, head)) | _head(site, layer, head)


def _of_words(
    weights: Float[np.ndarray, "key"], shipped: "Shipped", trace: "Trace", head: NamedHead, words: Sequence[str]
) -> dict[str, float | str]:
    """What single words get of a row of a head, each as `of_WORD`."""
    keys = {word: list(shipped.keys(trace, head.site, word)) for word in words}
    return {f"of_{word}": OfHead(weights[at].sum(), head) for word, at in keys.items()}


def _reads(found: dict[str, float | str]) -> Message:
    message = "Each bar is one key's share of the weight in {head} of the {attention}. A row sums to 1."
    return said(message, head=found["head"], attention=found["attention"])


def _opened(text: str, site: str, layer: int, head: int, row: int) -> FullPage:
    return FullPage("attention", {"text": text, "site": site, "layer": layer, "head": head, "token": row})


def _words(text: str) -> list[str]:
    return [word.strip(".,!?") for word in text.split()]
