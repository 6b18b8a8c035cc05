"""The steps of one stage of a token's path, in words and numbers: its input, a layer, or what comes out at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import numpy as np
from jaxtyping import Float

from viz.pictures import payload
from viz.pictures.payload import LOCAL, Text, rounded
from viz.text.messages import _, said
from viz.text.written import decimal, display_token, percent

if TYPE_CHECKING:
    from model.analysis.residual_stream.token_path import TokenPath
    from model.parts.run import Addition, NormStep

#: So many hidden units, and so many candidates, are named.
MOST_NAMED: Final = 8
NAMES: Final = {"self": said("Self-attention"), "cross": said("Cross-attention"), "feed_forward": said("Feed-forward")}
#: What the stream begins with → what it is called.
_BEGIN_NAMES: Final = {"embedding": said("Embedding"), "position": said("Position")}
ADDS: Final = {
    "self": said("What self-attention adds"),
    "cross": said("What cross-attention adds"),
    "feed_forward": said("What feed-forward adds"),
}
#: Titles of a norm, by where it stands.
BEFORE_SUBLAYER: Final = said("{norm} before the sub-layer")
AFTER_SUM: Final = said("{norm} after the sum (§3.1)")
AFTER_LAST: Final = said("{norm} after the last layer")


@dataclass(frozen=True, slots=True)
class Part:
    """What is added to the stream of the token that is followed."""

    stage: int  #: at which it is: 0 for the input, then the layers
    kind: str  #: what it is coloured as
    label: Text
    length: Annotated[float, rounded(3)]  #: its norm
    share: Annotated[float, rounded(4)] | None  #: of the sum; None without a residual connection
    stream: Annotated[float, rounded(3)]  #: the norm of the stream after it


@dataclass(frozen=True, eq=False)
class Bar:
    """A named number."""

    label: str
    value: Annotated[float, rounded(4)]


@dataclass(frozen=True, eq=False)
class Row:
    """One step of a stage."""

    kind: str  #: what it is coloured as; "stream" for the residual stream itself
    title: str
    #: formula, text: what it computes, and what there is to see.
    formula: str
    text: str
    values: Annotated[Float[np.ndarray, "value"] | None, LOCAL] = None  #: the vector, if it is one
    group: int = 0  #: values of each head, where heads lie side by side in it; 0 else
    bars: tuple[Bar, ...] = ()  #: named numbers, largest first where nothing else orders them

    def derived(self) -> dict[str, object]:
        """How many numbers the vector has, its norm, and the size of the largest."""
        values = np.zeros(0) if self.values is None else self.values
        largest = float(np.abs(values).max(initial=0.0))
        return {"count": len(values), "length": float(f"{norm_of(values):.6g}"), "bound": float(f"{largest:.6g}")}


def path_story(path: "TokenPath", stage: int) -> dict[str, Any]:
    """What every part adds to the token, and the steps of the open stage with their vectors."""
    shown = rows(path, stage)
    return {
        "stage": stage,
        "stages": stage_names(path),
        "parts": [payload.encoded(part) for part in parts(path)],
        "rows": [
            {
                **payload.encoded(row),
                "values": [] if row.values is None else [float(f"{value:.6g}") for value in row.values.tolist()],
            }
            for row in shown
        ],
    }


def parts(path: "TokenPath") -> list[Part]:
    """What the token begins with, and what every sub-layer adds to it."""
    begin = norm_of(path.begin)
    vectors = {"embedding": path.embedding, "position": path.positional}
    from_input = [
        Part(0, kind, _BEGIN_NAMES[kind], norm_of(vector), None, begin)
        for kind, vector in vectors.items()
        if vector is not None
    ]
    return (from_input or [Part(0, "embedding", said("Embedding layer"), begin, None, begin)]) + [
        Part(
            stage=number,
            kind=addition.kind,
            label=NAMES[addition.kind],
            length=norm_of(addition.added),
            share=addition.share if addition.has_skip else None,
            stream=norm_of(addition.after),
        )
        for number, layer in enumerate(path.layers, start=1)
        for addition in layer
    ]


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
        text = (
            _("The token's row of the embedding matrix, times √d_model (§3.4).")
            if scale != 1
            else _("The token's row of the embedding matrix.")
        )
        factor = f" · √d_model = {decimal(scale, 1)}" if scale != 1 else ""
        title = _("Embedding of {token}", token=token)
        yield Row("embedding", title, f"E[{token}]{factor}", text, path.embedding.numpy())
        if path.positional is None:
            text = _("This model adds no positional encodings: the same token has the same vector at every position.")
            yield Row("position", _("No positional encoding"), "", text)
        else:
            text = _("The same for every token at this position (§3.5).")
            title = _("Position {number}", number=path.position + 1)
            yield Row("position", title, f"PE[{path.position}]", text, path.positional.numpy())
    text = _("The residual stream begins: from here on, every sub-layer reads it and adds to it.")
    if path.embedding is None:
        text = _(
            "This model exposes only the sum of what {token} and its position add. The residual stream begins: from "
            "here on, every sub-layer reads it and adds to it.",
            token=token,
        )
    formula = _("embedding + position") if path.positional is not None else "x"
    yield Row("stream", _("What the first layer reads"), formula, text, _array(path.begin))


def _sublayer_rows(addition: "Addition") -> Iterator[Row]:
    if addition.norm is not None and addition.norm_place == "pre":
        yield _norm_row(addition.norm, "x", BEFORE_SUBLAYER)
    if addition.heads is not None:
        yield from _head_rows(addition)
    if addition.hidden is not None:
        hidden = addition.hidden.numpy()
        yield _gated_row(hidden) if addition.is_gated else _hidden_row(hidden)
    yield _added_row(addition)
    yield _sum_row(addition)
    if addition.norm is not None and addition.norm_place == "post":
        yield _norm_row(addition.norm, _("x + sub-layer"), AFTER_SUM)


def _norm_row(norm: "NormStep", read: str, title: str) -> Row:
    before, after = norm.before.numpy(), norm.after.numpy()
    lengths = {"before": decimal(norm_of(before), 1), "after": decimal(norm_of(after), 1)}
    if not norm.norm.is_centred:
        message = (
            "Divided by the root mean square of its {count} numbers, then scaled. The norm is {before} before and "
            "{after} after."
        )
        text = _(message, count=len(before), **lengths)
        formula = _("{read} / √(mean of squares + ε) · g", read=read)
        return Row("norm", _(title, norm="RMSNorm"), formula, text, after)
    message = (
        "Its {count} numbers have mean {mean} and standard deviation {std} before; they are centred and divided, then "
        "scaled by the learned gain. The norm is {before} before and {after} after."
    )
    text = _(message, mean=decimal(before.mean()), std=decimal(before.std()), count=len(before), **lengths)
    formula = _("({read} − mean) / √(variance + ε) · g + b", read=read)
    return Row("norm", _(title, norm="LayerNorm"), formula, text, after)


def _head_rows(addition: "Addition") -> Iterator[Row]:
    heads = addition.heads
    assert heads is not None
    count, d_k = heads.query.shape
    text = _("{count} heads with {d_k} numbers each: what this token looks for.", count=count, d_k=d_k)
    yield Row(addition.kind, _("Query"), "q = x W_Q + b", text, _flat(heads.query), d_k)
    if heads.key is not None and heads.value is not None:
        keys = len(heads.key)
        message = "Other tokens match their queries with this. There are {count} keys, each shared by several heads."
        text = _("Other tokens match their queries with this.") if keys == count else _(message, count=keys)
        yield Row(addition.kind, _("Key"), "k = x W_K + b", text, _flat(heads.key), heads.key.shape[1])
        text = _("The content that other tokens take from this one.")
        yield Row(addition.kind, _("Value"), "v = x W_V + b", text, _flat(heads.value), heads.value.shape[1])
    text = (
        _("What each head takes from the values of the source: this row's weights times v.")
        if addition.kind == "cross"
        else _("What each head takes from the values of the tokens that it attends to: this row's weights times v.")
    )
    title, formula = _("Each head's output"), _("Σ weight · v")
    yield Row(addition.kind, title, formula, text, _flat(heads.output), heads.output.shape[1])
    lengths = np.linalg.norm(heads.parts.numpy(), axis=1)
    most = f"H{int(lengths.argmax()) + 1}"
    yield Row(
        addition.kind,
        _("Through W_O, head by head"),
        _("‖head · its rows of W_O‖"),
        _("{head} adds most. The contributions and b_O add up to the attention's output.", head=most),
        bars=tuple(Bar(f"H{head + 1}", float(length)) for head, length in enumerate(lengths)),
    )


def _hidden_row(hidden: Float[np.ndarray, "unit"]) -> Row:
    firing = int((hidden > 0).sum())
    strongest = np.argsort(-hidden)[:MOST_NAMED]
    return Row(
        "feed_forward",
        _("Hidden units: {firing} of {count:,} are active", firing=firing, count=len(hidden)),
        "max(0, x W_1 + b_1)" if hidden.min(initial=0.0) >= 0 else _("activation(x W_1 + b_1)"),
        _(
            "{share} of all hidden units are above 0. The strongest, with their indices (from 0):",
            share=percent(firing / len(hidden)),
        ),
        hidden,
        bars=tuple(Bar(f"#{unit}", float(hidden[unit])) for unit in strongest if hidden[unit] > 0),
    )


def _gated_row(hidden: Float[np.ndarray, "unit"]) -> Row:
    strongest = np.argsort(-np.abs(hidden))[:MOST_NAMED]
    return Row(
        "feed_forward",
        _("Hidden units: {count:,}, each a product", count=len(hidden)),
        _("activation(x W_gate) ⊙ x W_up"),
        _(
            "A gate times a value: a unit may have either sign, so a unit below 0 is active too. The units of "
            "largest absolute value, with their indices (from 0):"
        ),
        hidden,
        bars=tuple(Bar(f"#{unit}", float(hidden[unit])) for unit in strongest),
    )


def _added_row(addition: "Addition") -> Row:
    formula = _("hidden · W_2 + b_2") if addition.kind == "feed_forward" else "Concat(heads) · W_O + b_O"
    cosine, share = decimal(addition.cosine), percent(addition.share)
    text = (
        _("cos {cosine} with the sum below: the added vector makes up {share} of the sum.", cosine=cosine, share=share)
        if addition.has_skip
        else _("cos {cosine} with the sum below: the added vector is the whole sum.", cosine=cosine)
    )
    return Row(addition.kind, _(ADDS[addition.kind]), formula, text, _array(addition.added))


def _sum_row(addition: "Addition") -> Row:
    if not addition.has_skip:
        text = _("This model was trained without residual connections: the input is not kept.")
        return Row("stream", _("No residual connection"), "Sublayer(x)", text, _array(addition.summed))
    message = "The input, of norm {length}, makes up {share} of the sum, by projection on it."
    text = _(message, length=decimal(norm_of(addition.before), 1), share=percent(1 - addition.share))
    return Row("stream", _("Residual connection: the sum"), "x + Sublayer(x)", text, _array(addition.summed))


def _output_rows(path: "TokenPath") -> Iterator[Row]:
    if path.final_norm is not None:
        yield _norm_row(path.final_norm, "x", AFTER_LAST)
    else:
        *_others, last = path.layers[-1]
        yield Row("stream", _("Output of the last layer"), "x", "", _array(last.after))
    if path.stack == "encoder":
        text = _("If there is a decoder, the cross-attention of every layer computes keys and values from it.")
        yield Row("stream", _("One row of the encoder's output"), "", text)
    if path.candidates:
        yield _candidates_row(path)


def _candidates_row(path: "TokenPath") -> Row:
    shown = path.candidates[:MOST_NAMED]
    first, *_others = shown
    best = display_token(first.token)
    if not path.logits:
        text = _("After the norm and the output matrix, “{token}” is the most probable.", token=best)
        chances = (Bar(display_token(one.token), float(np.exp(one.log_prob))) for one in shown)
        return Row("stream", _("Probabilities of the next token"), "softmax(logits)", text, bars=tuple(chances))
    message = "The dot product with every row of the output matrix; the softmax gives “{token}” {share}."
    text = _(message, token=best, share=percent(float(np.exp(first.log_prob))))
    logits = zip(shown, path.logits[:MOST_NAMED], strict=True)
    bars = tuple(Bar(display_token(candidate.token), logit) for candidate, logit in logits)
    return Row("stream", _("Logits: the next token"), "x · Eᵀ", text, bars=bars)


def norm_of(vector: object) -> float:
    """The norm of a vector."""
    return float(np.linalg.norm(np.asarray(vector)))


def _array(vector: object) -> Float[np.ndarray, "value"]:
    return np.asarray(vector, np.float32)


def _flat(vectors: object) -> Float[np.ndarray, "value"]:
    return np.asarray(vectors, np.float32).ravel()


def stage_names(path: "TokenPath") -> Sequence[str]:
    """What the stages are called."""
    layers = (_("Layer {number}", number=number) for number, _layer in enumerate(path.layers, 1))
    return [_("Input"), *layers, _("Output")]
