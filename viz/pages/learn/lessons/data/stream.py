"""Views of vectors: the embedding matrix, what each part of a layer adds to a token, hidden units, norms, logits."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import Reader
from model.analysis.embedding_space import EmbeddingSpace, embedding_space
from model.analysis.residual_stream.token_path import TokenPath
from model.errors import TokenError
from model.parts.weights import layer_norm
from viz.access import texts
from viz.pages.learn.lessons.data.shipped import is_most, nearest_share
from viz.pages.learn.lessons.pictures import Bars, Curves, FullPage, Rows, View
from viz.pages.learn.transformer.data import additions as additions_of
from viz.pages.learn.transformer.data import token_path
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.server.caches import cached
from viz.text.html import Column
from viz.text.messages import Message, said
from viz.text.written import ENCODER, display_token, file_name, spoken, written_number

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Hidden units that a picture has room for.
UNITS: Final = 24
#: Kind of a part of a layer → its name.
_NAMES: Final = {"self": said("attention"), "feed_forward": said("feed-forward")}


def fired(shipped: "Shipped", *, text: str, word: str) -> View:
    """How many hidden units of each layer's feed-forward network are above 0 for one word."""
    path = _path(shipped, text, word)
    counts = np.array([float((part.hidden > 0).sum()) for *_, part in path.layers if part.hidden is not None])
    units = shipped.translator.config.d_ff
    found: dict[str, float | str] = {
        "word": word, "units": units, "d_model": shipped.translator.config.d_model,
        "ratio": units / shipped.translator.config.d_model,
        "most": float(counts.max()), "fewest": float(counts.min()), "share": float(counts.mean() / units),
    }  # fmt: skip
    found["verdict"] = nearest_share(
        {0.03: said("A few percent"), 0.5: said("About half"), 1.0: said("Nearly all")}, counts.mean() / units
    )
    labels = [said("layer {number}", number=number) for number, _ in enumerate(counts, 1)]
    number = said("active hidden units, of {units:,}", units=units)
    picture = Bars(labels=labels, series={said("units"): counts}, number=number, digits=0)
    caption = said("One bar per layer of the encoder: how many hidden units are active for “{word}”.", word=word)
    return View(picture, found, caption, _follow(shipped, text, word))


def units(shipped: "Shipped", *, text: str, word: str, layer: int) -> View:
    """The hidden units that fire most for one word, at every token of the sentence."""
    trace = shipped.trace(text)
    at = shipped.row(trace, ENCODER, word)
    layer = min(layer, trace.layers_of(ENCODER) - 1)
    units = additions_of(trace, shipped.translator, "encoder")[layer][-1].hidden
    assert units is not None, "our models tell their hidden units"
    hidden = units.numpy()
    strongest = np.argsort(-hidden[at])[:UNITS]
    values, number = hidden[:, strongest], layer + 1
    together = (hidden > 0)[:, hidden[at] > 0]
    others = np.delete(together, at, axis=0)
    found: dict[str, float | str] = {
        "word": word, "layer": number, "shown": len(strongest), "fired": int((hidden[at] > 0).sum()),
        "alone": int((~others.any(0)).sum()), "shared": float(others.mean() if others.size else 0.0),
        "largest": float(hidden[at].max()),
    }  # fmt: skip
    message = "The hidden units of layer {layer} that are most active for {word}, at every token."
    picture = MatrixData(
        values=values,
        row_tokens=trace.source_tokens,
        column_tokens=[str(unit + 1) for unit in strongest],
        scale=ColourScale.root(said("activation"), max(float(values.max()), 1e-6)),
        title=said("Hidden units of layer {layer}", layer=number),
        label=said(message, layer=number, word=word),
        row_name=said("token"),
        column_name=said("hidden unit"),
        file_name=file_name("hidden units", str(number), sentence=text),
    )
    caption = said(
        "Columns: the units that are most active for “{word}”. Rows: all tokens. Dark is exactly 0.", word=word
    )
    return View(picture, found, caption, _follow(shipped, text, word))


def additions(shipped: "Shipped", *, text: str, word: str) -> View:
    """How long the residual stream of a word is before each part, and how long what the part adds is."""
    path = _path(shipped, text, word)
    labels: list[Message] = []
    before, added, by_kind = [], [], dict.fromkeys(_NAMES, 0.0)
    for number, layer in enumerate(path.layers, 1):
        for part in layer:
            labels.append(said("L{layer} {part}", layer=number, part=_NAMES[part.kind]))
            before.append(float(part.before.norm()))
            added.append(float(part.added.norm()))
            by_kind[part.kind] += added[-1]
    *_, (*_, last) = path.layers
    smaller = sum(new < old for new, old in zip(added, before, strict=True))
    found: dict[str, float | str] = {
        "word": word, "parts": len(labels), "smaller": smaller, "begin": before[0],
        "end": float(last.summed.norm()), "deviation": path.deviation,
        "attention": by_kind["self"], "feed_forward": by_kind["feed_forward"],
        "share": float(np.mean(np.array(added) / np.array(before))),
    }  # fmt: skip
    found["verdict"] = said("Mostly smaller") if is_most(smaller, len(labels)) else said("Mostly larger")
    most = int(np.argmax(np.array(added) / np.array(before)))
    found |= {"most": labels[most], "most_added": added[most], "most_before": before[most]}
    found["larger"] = _NAMES["feed_forward" if by_kind["feed_forward"] > by_kind["self"] else "self"]
    series: dict[str, np.ndarray] = {
        said("input of the sub-layer"): np.array(before),
        said("what the sub-layer adds"): np.array(added),
    }
    picture = Bars(labels=labels, series=series, number=said("norm of the vector"), digits=1)
    caption = said(
        "The vector of “{word}” on its way through the encoder: its norm, and that of each addition.", word=word
    )
    return View(picture, found, caption, _follow(shipped, text, word))


def normed(shipped: "Shipped", *, text: str, layer: int) -> View:
    """The spread of each token's numbers before and after a layer norm, without what the norm has learned."""
    trace = shipped.trace(text)
    layer = min(layer, trace.layers_of(ENCODER) - 1)
    norm = additions_of(trace, shipped.translator, "encoder")[layer][-1].norm
    assert norm is not None, "every sub-layer of ours has a norm"
    after = layer_norm(before := norm.before)
    wide, even = (values.std(-1, unbiased=False).numpy() for values in (before, after))
    found: dict[str, float | str] = {
        "layer": layer + 1, "d_model": shipped.translator.config.d_model, "widest": float(wide.max()),
        "narrowest": float(wide.min()), "after": float(even.mean()), "mean_after": float(after.mean(-1).abs().max()),
    }  # fmt: skip
    series: dict[str, np.ndarray] = {said("before the norm"): wide, said("after the norm"): even}
    picture = Bars(labels=trace.source_tokens, series=series, number=said("standard deviation of a token's numbers"))
    message = "Each token has {d_model} numbers; each bar is their standard deviation. The norm sets it to 1."
    caption = said(message, d_model=found["d_model"])
    return View(picture, found, caption, _follow(shipped, text, text.split()[0]))


def pre_and_post(shipped: "Shipped", *, text: str, word: str) -> View:
    """How long the residual stream is after each part, in a model that norms before and one that norms after."""
    lines: dict[str, np.ndarray] = {}
    names = {"full": said("norm before the sub-layer"), "post-norm": said("norm after the sum, as in the paper")}
    for preset, name in names.items():
        translator = shipped.experiment(preset)
        small = type(shipped)(shipped.choice, translator)
        path = _path(small, text, word)
        lines[name] = np.array(
            [float(path.begin.norm()), *(float(part.after.norm()) for layer in path.layers for part in layer)]
        )
    before, after = lines.values()
    found: dict[str, float | str] = {
        "word": word, "pre_begin": float(before[0]), "pre_end": float(before[-1]), "post_end": float(after[-1]),
        "growth": float(before[-1] / before[0]), "post_growth": float(after[-1] / after[1]),
    }  # fmt: skip
    found["verdict"] = said("Norm before the sub-layer") if before[-1] > after[-1] else said("Norm after the sum")
    picture = Curves(
        x=np.arange(len(before), dtype=float), lines=lines, x_name=said("sub-layers passed, 0 is the embedding"),
        y_name=said("norm of the vector"),
    )  # fmt: skip
    caption = said("Two small models, trained in the same way; the vector of “{word}” in their encoders.", word=word)
    choices = {
        "text": text,
        "experiments_tab": "Ablations",
        "ablations": ("full", "post-norm"),
        "ablations_chosen": True,
    }
    return View(picture, found, caption, FullPage("experiments", choices))


def _path(shipped: "Shipped", text: str, word: str) -> TokenPath:
    """A word's last token through the encoder."""
    trace = shipped.trace(text)
    return token_path(trace, shipped.translator, "encoder", shipped.row(trace, ENCODER, word))


def _follow(shipped: "Shipped", text: str, word: str) -> FullPage:
    trace = shipped.trace(text)
    choices = {"text": text, "site": ENCODER, "token": shipped.row(trace, ENCODER, word)}
    return FullPage("learn", {**choices, "learn_tab": "The Transformer", "depth": "layer"})


#: Neighbours, and candidates of a step, that a picture has room for.
NEIGHBOURS: Final = 10


def tokens(shipped: "Shipped", *, text: str) -> View:
    """The words of a sentence, the tokens that each is split into, and their numbers in the vocabulary."""
    trace = shipped.trace(text)
    known = texts.words(trace)
    words = list(zip(known.labels, known.groups, strict=True))[: known.num_source]
    count, written = len(words), {at for _, group in words for at in group}
    end = [at for at, _ in enumerate(trace.source_tokens) if at not in written]
    rows = tuple(
        (
            label,
            " · ".join(display_token(trace.source_tokens[at]) for at in group),
            ", ".join(str(trace.source_ids[at]) for at in group),
        )
        for label, group in [*words, (said("end of the sentence"), end)]
    )
    (split, group), (_, pieces, _) = max(zip(words, rows, strict=False), key=lambda word: len(word[0][1]))
    found: dict[str, float | str] = {
        "words": count, "tokens": len(trace.source_tokens), "vocabulary": shipped.translator.config.vocab_size,
        "split": split.strip(".,!?"), "count": len(group), "pieces": pieces,
    }  # fmt: skip
    found["verdict"] = (
        said("Exactly {words}", words=count)
        if len(trace.source_tokens) == count
        else said("More than {words}", words=count)
    )
    columns = (Column(said("word"), language="en"), Column(said("tokens")), Column(said("token ids")))
    caption = said("Each row is a word as typed, with its tokens. ▁ marks the beginning of a word.")
    return View(Rows(columns, rows), found, caption, FullPage("model_card", {"model_section": "Overview"}))


def lengths(shipped: "Shipped", *, text: str) -> View:
    """How long each token's embedding is, before and after it is scaled, beside the positional encoding."""
    trace, root = shipped.trace(text), shipped.translator.config.d_model**0.5
    scaled = np.linalg.norm(trace.embedding["source"].numpy(), axis=-1)
    positional = np.linalg.norm(trace.positional["source"].numpy(), axis=-1)
    plain = scaled / root
    found: dict[str, float | str] = {
        "d_model": shipped.translator.config.d_model, "root": root, "plain": float(plain.mean()),
        "scaled": float(scaled.mean()), "positional": float(positional.mean()),
        "expected": (shipped.translator.config.d_model / 2) ** 0.5,
    }  # fmt: skip
    found["verdict"] = said("The position") if positional.mean() > plain.mean() else said("The word")
    series: dict[str, np.ndarray] = {
        said("row of the matrix"): plain,
        said("times √d_model"): scaled,
        said("position"): positional,
    }
    picture = Bars(labels=trace.source_tokens, series=series, number=said("norm of the vector"), digits=1)
    caption = said(
        "The vectors added before the first layer: the scaled row of the token, and the encoding of its position."
    )
    choices = {"text": text, "learn_tab": "The Transformer", "depth": "layer", "site": ENCODER}
    return View(picture, found, caption, FullPage("learn", choices))


def neighbours(shipped: "Shipped", *, word: str, other: str) -> View:
    """The tokens whose rows point most nearly where a word's does, and where another word stands among them."""
    space = _space(shipped.translator)
    own, its = _id(space, word), _id(space, other)
    nearest = space.neighbours(own, NEIGHBOURS)
    cosines = (space.directions @ space.directions[own]).numpy()
    # The word itself is nearer than any other, so the nearest is the first.
    rank = int((cosines > cosines[its]).sum())
    first, *_, last = nearest
    found: dict[str, float | str] = {
        "word": word, "other": other, "vocabulary": len(space.tokens), "nearest": spoken(first.token),
        "cosine": first.cosine, "other_cosine": float(cosines[its]), "other_rank": rank,
        "last": last.cosine, "chance": float((space.directions.mean(0) ** 2).sum()),
    }  # fmt: skip
    near = said("Yes, the nearest") if rank == 1 else said("Yes, but not the nearest")
    found["verdict"] = near if rank <= NEIGHBOURS else said("No")
    further = [] if rank <= NEIGHBOURS else [(space.tokens[its], float(cosines[its]))]
    tokens, values = zip(*((one.token, one.cosine) for one in nearest), *further, strict=True)
    picture = Bars(
        labels=tokens, series={said("cosine"): np.array(values)}, number=said("cosine"),
        marked=min(rank - 1, NEIGHBOURS),
    )  # fmt: skip
    caption = said(
        "The {count} tokens nearest to “{word}” in the matrix; the marked bar is “{other}”.",
        count=len(nearest), word=word, other=other,
    )  # fmt: skip
    return View(picture, found, caption, FullPage("model_card", {"model_section": "Overview"}))


def logits(shipped: "Shipped", *, text: str, word: str) -> View:
    """The candidates where a word is written: the dot product of the decoder's last state with their rows."""
    trace, translator = shipped.trace(text), shipped.translator
    step = shipped.row(trace, "decoder.self", word)
    path = token_path(trace, translator, "decoder", step)
    space = _space(translator)
    state = path.layers[-1][-1].after if path.final_norm is None else path.final_norm.after
    shown = list(zip(path.candidates, path.logits, strict=True))[:NEIGHBOURS]
    rows, misses = [], []
    for candidate, logit in shown:
        row = space.directions[candidate.token_id] * space.lengths[candidate.token_id]
        product = float(row @ state)
        misses.append(abs(product - logit))
        rows.append(
            (
                display_token(candidate.token),
                written_number(product, ".2f"),
                written_number(logit, ".2f"),
                f"{np.exp(candidate.log_prob):.4f}",
            )
        )
    (best, logit), *_ = shown
    found: dict[str, float | str] = {
        "word": word, "d_model": translator.config.d_model, "vocabulary": len(space.tokens),
        "best": spoken(best.token), "probability": float(np.exp(best.log_prob)), "logit": logit, "miss": max(misses),
    }  # fmt: skip
    columns = (
        Column(said("candidate")), Column(said("row · state"), is_number=True), Column("logit", is_number=True),
        Column(said("probability"), is_number=True),
    )  # fmt: skip
    caption = said(
        "The row of a token in the matrix, times the decoder's state, next to the logit that the model computed."
    )
    choices = {"text": text, "step": step, "step_chosen": True}
    return View(Rows(columns, tuple(rows)), found, caption, FullPage("decoding", choices))


@cached(max_entries=4)
def _space(reader: Reader) -> EmbeddingSpace:
    return embedding_space(reader)


def _id(space: EmbeddingSpace, word: str) -> int:
    token_id = space.find(word)
    if token_id is None:
        raise TokenError("The vocabulary of this model has no single token for the word {word!r}.", word=word)
    return token_id
