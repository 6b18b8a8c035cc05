"""The way from the sentence to a product of two numbers and back, in fifteen stops: where each is, and what it says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Final

import numpy as np

from viz.pages.learn.transformer.head_story import hides_by_distance
from viz.selection.choices import Depth, PathEnd
from viz.text.messages import _, plural
from viz.text.written import decimal, display_token, percent

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.residual_stream.token_path import TokenPath
    from viz.pages.learn.transformer.head_story import Origin

#: The steps of a head's row, as `row_steps.js` draws them.
DOTS, SCALED, MASK, SOFTMAX, VALUES, PART = range(1, 7)
NO_STEP: Final = -1


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop."""

    #: depth, end: where it is.
    depth: Depth
    end: PathEnd
    at: int  #: the step of the head's row that is ringed, or `NO_STEP`
    #: title, text: what it says, in two or three sentences.
    title: str
    text: str
    dimension: int | None = None  #: the component that it is about; None for none


def of(trace: "Trace", site: str, path: "TokenPath | None", origin: "Origin | None") -> list[Stop]:
    """The stops of a trace: those within a token or a head only where the model exposes them."""
    inner: list[Stop] = []
    if path is not None:
        inner += [_input(path), _layer(path)]
    if origin is not None:
        inner += _head(origin)
    if path is not None:
        inner += [_sum(path), _output(path)]
    last = [] if not trace.steps else [_written()]
    return [_model(trace, site), *inner, *last]


def _model(trace: "Trace", site: str) -> Stop:
    layers, _heads = trace.shapes[site]
    text = plural(
        "Each column is a token. It rises through {count} layer; what it takes from other tokens flows in sideways.",
        "Each column is a token. It rises through {count} layers; what it takes from other tokens flows in sideways.",
        layers,
    )
    return Stop("model", "", NO_STEP, _("The whole model"), text)


def _input(path: "TokenPath") -> Stop:
    token, width = display_token(path.token), len(path.begin)
    text = (
        _(
            "“{token}” becomes a vector of {width} numbers: its row of the embedding matrix plus a vector for its "
            "position. This is the residual stream; from now on, layers only add to it.",
            token=token,
            width=width,
        )
        if path.positional is not None
        else _(
            "“{token}” becomes a vector of {width} numbers. This is the residual stream; from now on, layers only add "
            "to it.",
            token=token,
            width=width,
        )
    )
    return Stop("layer", "input", NO_STEP, _("A token becomes a vector"), text)


def _layer(path: "TokenPath") -> Stop:
    parts = sum(len(layer) for layer in path.layers)
    message = (
        "A layer reads the stream of “{token}” and adds to it: attention brings in information from other "
        "tokens, the feed-forward network reads only this token. In all layers together, {parts} vectors are added."
    )
    text = _(message, token=display_token(path.token), parts=parts)
    return Stop("layer", "", NO_STEP, _("One layer"), text)


def _head(origin: "Origin") -> Iterator[Stop]:
    row, key = origin.real, origin.followed
    names = {"query": display_token(origin.row_name), "key": display_token(origin.key_tokens[key])}
    products = row.products[key].numpy()
    largest = int(np.abs(products).argmax())
    cut = int((~row.allowed).sum())
    message = (
        "The head turns the vector of “{query}” into a query of {count} numbers, and every token into a key and a "
        "value. A key that matches the query gets a high score."
    )
    yield Stop("head", "", NO_STEP, _("One head"), _(message, count=len(row.query), **names))
    message = "The query is compared with every key. “{best}” has the highest score."
    yield Stop(
        "head",
        "",
        DOTS,
        _("A score for every key"),
        _(message, best=display_token(origin.key_tokens[int(row.dots.argmax())])),
    )
    message = "The score of “{key}” is the sum of {count} products: {dot}."
    yield Stop(
        "cell", "", NO_STEP, _("One score"), _(message, count=len(products), dot=decimal(float(row.dots[key])), **names)
    )
    yield Stop(
        "number",
        "",
        NO_STEP,
        _("One product"),
        _(
            "The largest of these products: component {number} of the query times the same component of the key, "
            "{q} × {k} = {product}.",
            number=largest + 1,
            q=decimal(float(row.query[largest])),
            k=decimal(float(row.keys[key][largest])),
            product=decimal(float(products[largest])),
        )
        if origin.score == "dot"
        else _(
            "Component {number} adds most to this score: {product}.",
            number=largest + 1,
            product=decimal(float(products[largest])),
        ),
        largest,
    )
    yield Stop(
        "head",
        "",
        SCALED,
        _("Divided by √dₖ"),
        _("These scores are not divided: this model leaves the division out, or has divided its queries.")
        if row.scale == 1
        else _(
            "The score of “{key}” is divided by {root}: {dot} becomes {scaled}. Smaller scores keep the softmax from "
            "saturating.",
            root=decimal(1 / row.scale),
            dot=decimal(float(row.dots[key])),
            scaled=decimal(float(row.scaled[key])),
            **names,
        ),
    )
    yield Stop(
        "head",
        "",
        MASK,
        _("The mask"),
        plural(
            "{count} key is outside this row's window: its score becomes −∞, so it gets no weight.",
            "{count} keys are outside this row's window: their scores become −∞, so they get no weight.",
            cut,
        )
        if hides_by_distance(origin)
        else plural(
            "{count} key comes later in the text: its score becomes −∞, so it gets no weight.",
            "{count} keys come later in the text: their scores become −∞, so they get no weight.",
            cut,
        )
        if cut
        else _("The mask hides no key of this row: all scores stay the same."),
    )
    message = "The softmax turns the scores into weights that sum to 1. “{key}” gets {weight}."
    yield Stop(
        "head",
        "",
        SOFTMAX,
        _("From scores to weights"),
        _(message, weight=decimal(float(row.weights[key]), 4), **names),
    )
    yield Stop(
        "head",
        "",
        VALUES,
        _("Weights times values"),
        _("Each value is multiplied by its weight, and all are added up: what “{query}” takes from the text.", **names),
    )
    message = (
        "The output matrix turns the result into a vector with as many numbers as the stream: what H{head} adds. Its "
        "norm is {length}."
    )
    yield Stop(
        "head",
        "",
        PART,
        _("What the head adds"),
        _(message, head=origin.head + 1, length=decimal(float(np.linalg.norm(origin.parts[origin.head])))),
    )


def _sum(path: "TokenPath") -> Stop:
    shares: Sequence[float] = [addition.share for layer in path.layers for addition in layer]
    message = (
        "What the layer adds is added to the residual stream of “{token}”. The largest contribution of any sub-layer "
        "to the final sum is {share}."
    )
    text = _(message, token=display_token(path.token), share=percent(max(shares)))
    return Stop("layer", "", NO_STEP, _("Back in the stream"), text)


def _output(path: "TokenPath") -> Stop:
    if not path.candidates:
        text = _(
            "After the last layer the vector of “{token}” is one row of the output.", token=display_token(path.token)
        )
        return Stop("layer", "output", NO_STEP, _("The output"), text)
    best, *_others = path.candidates
    message = (
        "The last vector is compared with every token of the vocabulary; a softmax turns the scores into "
        "probabilities. “{token}” gets {share}."
    )
    text = _(message, token=display_token(best.token), share=percent(exp(best.log_prob)))
    return Stop("layer", "output", NO_STEP, _("The next token"), text)


def _written() -> Stop:
    text = _(
        "The token that is written becomes the next input of the decoder, and the process repeats in the next "
        "column. Press Play to see it."
    )
    return Stop("model", "", NO_STEP, _("Written, and read again"), text)
