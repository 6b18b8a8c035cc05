"""The steps of one stage of a token's path, in words and numbers: its input, a layer, or what comes out at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from viz.core import numbers
from viz.core.numbers import decimal
from viz.core.token_text import display_token

if TYPE_CHECKING:
    from model.analysis.residual_stream.additions import Addition, NormStep, TokenPath

#: So many hidden units, and so many candidates, are named.
MOST_NAMED: Final = 8
NAMES: Final = {"self": "Self-attention", "cross": "Cross-attention", "feed_forward": "Feed-forward"}
#: What a part of the chart is coloured as.
KINDS: Final = ("embedding", "position", "self", "cross", "feed_forward", "norm")


@dataclass(frozen=True, eq=False)
class Bar:
    """A named number."""

    label: str
    value: float


@dataclass(frozen=True, eq=False)
class Row:
    """One step of a stage.

    Attributes:
        kind: what it is coloured as; "stream" for the residual stream itself.
        formula, text: what it computes, and what there is to see.
        values: the vector, if it is one.
        group: values of each head, where heads lie side by side in it; 0 else.
        bars: named numbers, largest first where nothing else orders them.
    """

    kind: str
    title: str
    formula: str
    text: str
    values: Float[np.ndarray, "value"] | None = None
    group: int = 0
    bars: tuple[Bar, ...] = ()


def rows(path: "TokenPath", stage: int) -> list[Row]:
    """The steps of a stage: 0 for the input, then the layers from 1, then the output."""
    if stage == 0:
        return list(_input_rows(path))
    if stage <= len(path.layers):
        return [row for addition in path.layers[stage - 1] for row in _sublayer_rows(addition)]
    return list(_output_rows(path))


def _input_rows(path: "TokenPath") -> Iterator[Row]:
    token = display_token(path.token)
    if path.embedding is not None:
        scale = path.scale or 1.0
        factor = f" · √d_model = {decimal(scale, 1)}" if scale != 1 else ""
        yield Row(
            "embedding",
            f"Embedding of {token}",
            f"E[{token}]{factor}",
            f"The token's row of the embedding matrix{', times √d_model (§3.4)' if factor else ''}.",
            path.embedding.numpy(),
        )
        if path.positional is None:
            text = "This model adds no positions: the same token has the same vector wherever it stands."
            yield Row("position", "No position", "", text)
        else:
            text = "The same for every token that stands here (§3.5)."
            title = f"Position {path.position + 1}"
            yield Row("position", title, f"PE[{path.position}]", text, path.positional.numpy())
    text = "The residual stream begins: from here on, every part of the model reads it and adds to it."
    if path.embedding is None:
        text = f"Of what {token} and its position add, this model tells the sum alone. {text}"
    formula = "embedding + position" if path.positional is not None else "x"
    yield Row("stream", "What the first layer reads", formula, text, _array(path.begin))


def _sublayer_rows(addition: "Addition") -> Iterator[Row]:
    if addition.norm is not None and addition.norm_place == "pre":
        yield _norm_row(addition.norm, "x", "before the sub-layer")
    if addition.heads is not None:
        yield from _head_rows(addition)
    if addition.hidden is not None:
        yield _hidden_row(addition.hidden.numpy())
    yield _added_row(addition)
    yield _sum_row(addition)
    if addition.norm is not None and addition.norm_place == "post":
        yield _norm_row(addition.norm, "x + sub-layer", "after the sum (§3.1)")


def _norm_row(norm: "NormStep", read: str, where: str) -> Row:
    before, after = norm.before.numpy(), norm.after.numpy()
    lengths = f"Length {decimal(_length(before), 1)} before, {decimal(_length(after), 1)} after."
    if not norm.is_centred:
        text = f"Divided by the root of the mean square of its {len(before)} numbers, then scaled. {lengths}"
        return Row("norm", f"RMSNorm {where}", f"{read} / √(mean of squares + ε) · g", text, after)
    text = (
        f"Mean {decimal(before.mean())} and deviation {decimal(before.std())} of its {len(before)} numbers before; "
        f"each is centred and divided, then scaled by what was learned. {lengths}"
    )
    return Row("norm", f"LayerNorm {where}", f"({read} − mean) / √(variance + ε) · g + b", text, after)


def _head_rows(addition: "Addition") -> Iterator[Row]:
    heads = addition.heads
    assert heads is not None
    count, d_k = heads.query.shape
    from_where = "of the source" if addition.kind == "cross" else "of other tokens"
    note = f"{count} heads side by side, {d_k} numbers each."
    yield Row(addition.kind, "Query", "q = x W_Q + b", f"{note} What this token looks for.", _flat(heads.query), d_k)
    if heads.key is not None and heads.value is not None:
        shared = "" if len(heads.key) == count else f" {len(heads.key)} of them, each shared by several heads."
        text = f"By which others find this token.{shared}"
        yield Row(addition.kind, "Key", "k = x W_K + b", text, _flat(heads.key), heads.key.shape[1])
        text = "What others take from this token."
        yield Row(addition.kind, "Value", "v = x W_V + b", text, _flat(heads.value), heads.value.shape[1])
    yield Row(
        addition.kind,
        "Each head's output",
        "Σ weight · v",
        f"What each head took from the values {from_where}, this row's weights times v.",
        _flat(heads.output),
        heads.output.shape[1],
    )
    lengths = np.linalg.norm(heads.parts.numpy(), axis=1)
    largest = int(lengths.argmax())
    yield Row(
        addition.kind,
        "Through W_O, head by head",
        "‖head · its rows of W_O‖",
        f"H{largest + 1} adds most. The parts and b_O add up to what the attention puts out.",
        bars=tuple(Bar(f"H{head + 1}", float(length)) for head, length in enumerate(lengths)),
    )


def _hidden_row(hidden: Float[np.ndarray, "unit"]) -> Row:
    firing = int((hidden > 0).sum())
    strongest = np.argsort(-hidden)[:MOST_NAMED]
    return Row(
        "feed_forward",
        f"Hidden units: {firing} of {len(hidden):,} fire",
        "max(0, x W_1 + b_1)" if hidden.min(initial=0.0) >= 0 else "activation(x W_1 + b_1)",
        f"{percent(firing / len(hidden))} are above 0. The strongest by number, from 0:",
        hidden,
        bars=tuple(Bar(f"#{unit}", float(hidden[unit])) for unit in strongest if hidden[unit] > 0),
    )


def _added_row(addition: "Addition") -> Row:
    name = NAMES[addition.kind].lower()
    formula = "hidden · W_2 + b_2" if addition.kind == "feed_forward" else "Concat(heads) · W_O + b_O"
    text = f"cos {decimal(addition.cosine)} with the sum below: "
    text += f"it makes up {percent(addition.share)} of it." if addition.has_skip else "it is all there is."
    return Row(addition.kind, f"What {name} adds", formula, text, _array(addition.added))


def _sum_row(addition: "Addition") -> Row:
    if not addition.has_skip:
        text = "This model was trained without residual connections: what came in is gone."
        return Row("stream", "No residual connection", "Sublayer(x)", text, _array(addition.summed))
    text = (
        f"What came in, of length {decimal(_length(addition.before), 1)}, makes up "
        f"{percent(1 - addition.share)} of the sum, by projection on it."
    )
    return Row("stream", "Residual connection: the sum", "x + Sublayer(x)", text, _array(addition.summed))


def _output_rows(path: "TokenPath") -> Iterator[Row]:
    if path.final_norm is not None:
        yield _norm_row(path.final_norm, "x", "after the last layer")
    else:
        yield Row("stream", "What the last layer puts out", "x", "", _array(path.layers[-1][-1].after))
    if path.stack == "encoder":
        text = "A decoder, where there is one, makes keys and values of it in every layer's cross-attention."
        yield Row("stream", "One row of what the encoder gives", "", text)
    if not path.candidates:
        return
    shown = path.candidates[:MOST_NAMED]
    best = display_token(shown[0].token)
    if not path.logits:
        text = f"After norm and output matrix, “{best}” is the most probable."
        chances = (Bar(display_token(one.token), float(np.exp(one.log_prob))) for one in shown)
        yield Row("stream", "Probabilities of the next token", "softmax(logits)", text, bars=tuple(chances))
        return
    yield Row(
        "stream",
        "Logits: the next token",
        "x · Eᵀ",
        f"The dot product with every row of the output matrix; of the softmax of all, “{best}” gets "
        f"{percent(float(np.exp(shown[0].log_prob)))}.",
        bars=tuple(
            Bar(display_token(candidate.token), logit)
            for candidate, logit in zip(shown, path.logits[:MOST_NAMED], strict=True)
        ),
    )


def percent(share: float) -> str:
    """A share in percent that is not broken between number and sign."""
    return numbers.percent(share).replace(" ", "\u00a0")


def _length(vector: object) -> float:
    return float(np.linalg.norm(np.asarray(vector)))


def _array(vector: object) -> Float[np.ndarray, "value"]:
    return np.asarray(vector, np.float32)


def _flat(vectors: object) -> Float[np.ndarray, "value"]:
    return np.asarray(vectors, np.float32).ravel()


def stage_names(path: "TokenPath") -> Sequence[str]:
    """What the stages are called."""
    return ["Input", *(f"Layer {layer}" for layer in range(1, len(path.layers) + 1)), "Output"]
