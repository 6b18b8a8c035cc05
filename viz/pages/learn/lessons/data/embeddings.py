"""Views of the embedding matrix: its rows, their neighbours, sums of them, and the logits that it gives once more."""

from typing import TYPE_CHECKING, Final

import numpy as np

from model import Reader
from model.analysis.embedding_space import EmbeddingSpace, embedding_space, is_shared
from model.analysis.residual_stream.capture import capture
from model.analysis.residual_stream.token_path import follow
from model.decoding.cost import count_parameters
from model.errors import TokenError
from viz.access import word_links
from viz.pages.learn.lessons.pictures import Bars, FullPage, Rows, View
from viz.server.caches import cached
from viz.text.html import Column
from viz.text.messages import said
from viz.text.sites import ENCODER
from viz.text.token_text import display_token

if TYPE_CHECKING:
    from viz.pages.learn.lessons.data.shipped import Shipped

#: Neighbours, and candidates of a step, that a picture has room for.
NEIGHBOURS: Final = 10


def tokens(shipped: "Shipped", *, text: str) -> View:
    """The words of a sentence, the tokens that each is split into, and their numbers in the vocabulary."""
    trace = shipped.trace(text)
    known = word_links.words(trace)
    words = list(zip(known.labels, known.groups, strict=True))[: known.num_source]
    end = tuple(range(words[-1][1][-1] + 1, len(trace.source_tokens)))
    rows = tuple(
        (
            label,
            " · ".join(display_token(trace.source_tokens[at]) for at in group),
            ", ".join(str(trace.source_ids[at]) for at in group),
        )
        for label, group in [*words, (said("end of the sentence"), end)]
    )
    split = max(range(len(words)), key=lambda word: len(words[word][1]))
    count = len(words)
    found: dict[str, float | str] = {
        "words": count, "tokens": len(trace.source_tokens), "vocabulary": shipped.translator.config.vocab_size,
        "split": words[split][0].strip(".,!?"), "count": len(words[split][1]), "pieces": rows[split][1],
    }  # fmt: skip
    found["verdict"] = (
        said("More than {words}", words=count)
        if len(trace.source_tokens) > count
        else said("Exactly {words}", words=count)
    )
    columns = (Column(said("word"), language="en"), Column(said("tokens")), Column(said("numbers in the vocabulary")))
    caption = said("Each row is a word as typed, with its tokens. ▁ marks the beginning of a word.")
    return View(Rows(columns, rows), found, caption, FullPage("model_card", {"model_card_tab": "Overview"}))


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
    rank = int((cosines > cosines[its]).sum()) - 1
    found: dict[str, float | str] = {
        "word": word, "other": other, "vocabulary": len(space.tokens), "nearest": _word(nearest[0].token),
        "cosine": nearest[0].cosine, "other_cosine": float(cosines[its]), "other_rank": rank + 1,
        "last": nearest[-1].cosine, "chance": float((space.directions.mean(0) ** 2).sum()),
    }  # fmt: skip
    near = said("Yes, but not the nearest") if rank else said("Yes, the nearest")
    found["verdict"] = near if rank < NEIGHBOURS else said("No")
    tokens = [*(one.token for one in nearest), space.tokens[its]]
    values = np.array([*(one.cosine for one in nearest), float(cosines[its])])
    picture = Bars(labels=tokens, series={said("cosine"): values}, number=said("cosine"), marked=len(tokens) - 1)
    caption = said(
        "The {count} tokens nearest to “{word}” in the matrix; the marked bar is “{other}”.",
        count=len(nearest), word=word, other=other,
    )  # fmt: skip
    return View(picture, found, caption, FullPage("model_card", {"model_card_tab": "Overview"}))


def logits(shipped: "Shipped", *, text: str, word: str) -> View:
    """The candidates where a word is written: the dot product of the decoder's last state with their rows."""
    trace, translator = shipped.trace(text), shipped.translator
    step = shipped.row(trace, "decoder.self", word)
    path = follow(capture(translator, trace), "decoder", step)
    space = _space(translator)
    state = path.layers[-1][-1].after if path.final_norm is None else path.final_norm.after
    shown = list(zip(path.candidates, path.logits, strict=True))[:NEIGHBOURS]
    rows, misses = [], []
    for candidate, logit in shown:
        row = space.directions[candidate.token_id] * space.lengths[candidate.token_id]
        product = float(row @ state)
        misses.append(abs(product - logit))
        rows.append(
            (display_token(candidate.token), f"{product:.2f}", f"{logit:.2f}", f"{np.exp(candidate.log_prob):.4f}")
        )
    found: dict[str, float | str] = {
        "word": word, "d_model": translator.config.d_model, "vocabulary": len(space.tokens),
        "best": _word(path.candidates[0].token), "probability": float(np.exp(path.candidates[0].log_prob)),
        "logit": path.logits[0], "miss": max(misses),
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


def shared(shipped: "Shipped") -> View:
    """How many parameters each part of the model has, and the matrix if it stood there three times."""
    config = shipped.translator.config
    counts = count_parameters(config)
    once, all_of_it = config.vocab_size * config.d_model, counts.total
    parts = {
        said("embedding matrix, once"): once,
        said("three separate matrices"): 3 * once,
        said("encoder self-attention"): counts.encoder_self_attention,
        said("encoder feed-forward"): counts.encoder_feed_forward,
        said("decoder self-attention"): counts.decoder_self_attention,
        said("cross-attention"): counts.cross_attention,
        said("decoder feed-forward"): counts.decoder_feed_forward,
    }
    found: dict[str, float | str] = {
        "vocabulary": config.vocab_size, "d_model": config.d_model, "once": once, "all": all_of_it,
        "share": once / all_of_it, "saved": 2 * once, "shared": "one" if is_shared(shipped.translator) else "several",
    }  # fmt: skip
    picture = Bars(
        labels=list(parts), series={said("parameters"): np.array(list(parts.values()), float)},
        number=said("parameters"), digits=0, marked=0,
    )  # fmt: skip
    caption = said(
        "Parameters of each part. The second bar is not part of this model: it shows the cost without sharing."
    )
    return View(picture, found, caption, FullPage("model_card", {"model_card_tab": "Overview"}))


@cached(max_entries=4)
def _space(reader: Reader) -> EmbeddingSpace:
    return embedding_space(reader)


def _id(space: EmbeddingSpace, word: str) -> int:
    token_id = space.find(word)
    if token_id is None:
        raise TokenError("The vocabulary of this model has no token that is the word {word!r}.", word=word)
    return token_id


def _word(token: str) -> str:
    """A token as it stands in a sentence, without the sign that it begins a word."""
    return display_token(token).removeprefix("▁")
