"""The way of one row of weights as a story in seven steps: which keys are drawn, the numbers, and a sentence for each.

Everything here is plain data; the same row gives the same story.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from viz.text.messages import Message, _, plural, said
from viz.text.written import DECODER, ENCODER, display_token, signed

if TYPE_CHECKING:
    from model.analysis.metrics.derived_row import DerivedRow


class ScoreWords(NamedTuple):
    """What the first steps call a score, its formula, what they say of it (of `d_k` numbers), and its short form."""

    title: Message
    formula: str
    text: Message
    short: str


SCORES: Final = {
    "dot": ScoreWords(
        said("One dot product"),
        "q · k = q₁k₁ + q₂k₂ + … = Σ qᵢkᵢ",
        said(
            "A query and a key have {d_k} components each. Multiply them in pairs and add up: the larger the sum, "
            "the better the two match."
        ),
        "q · k",
    ),
    "additive": ScoreWords(
        said("One additive score"),
        "vᵀ tanh(q + k) = Σ vᵢ tanh(qᵢ + kᵢ)",
        said(
            "A query and a key have {d_k} components each. Add them in pairs, apply tanh, multiply by the learned "
            "vᵢ, and add up: the larger the sum, the better the two match."
        ),
        "vᵀ tanh(q + k)",
    ),
    "general": ScoreWords(
        said("One bilinear score"),
        "qᵀ M k = Σ (qᵀM)ᵢ kᵢ",
        said(
            "A query and a key have {d_k} components each. Multiply the query by the learned matrix M, multiply in "
            "pairs and add up: the larger the sum, the better the two match."
        ),
        "qᵀ M k",
    ),
}
#: So many keys stand side by side with their numbers; of a longer text the strongest are drawn, the rest summed up.
MAX_COLUMNS: Final = 24


@dataclass(frozen=True, eq=False, kw_only=True)
class Origin:
    """What the story tells."""

    #: row_name, key_tokens: of the row, and one a key.
    row_name: str
    key_tokens: Sequence[str]
    real: "DerivedRow"  #: what the model did
    other: "DerivedRow | None"  #: what it would have done with a switch thrown; None where both are on
    followed: int  #: the key whose dot product is shown by hand
    site: str  #: encoder.self, decoder.self or decoder.cross
    head: int  #: from 0
    parts: Float[np.ndarray, "head d_model"]  #: what each head adds to the output, as the model computed it
    other_part: Float[np.ndarray, "d_model"] | None  #: what this head would add; None as `other`
    added: str = ""  #: what else the model does to a score, in words
    score: str = "dot"  #: the model's score function, by the name that it has in files
    rows_write: bool = False  #: whether the row stands for what it writes
    has_projection: bool = True  #: whether W_O follows; else the head's output is read as it is, and is its part

    @property
    def shown(self) -> "DerivedRow":
        """The row that is drawn in full: the other one where there is one."""
        return self.real if self.other is None else self.other

    @property
    def is_scaled(self) -> bool:
        """Whether the row that is drawn was scaled."""
        return self.other is None or self.other.scale == self.real.scale

    @property
    def looks_ahead(self) -> bool:
        """Whether the row that is drawn sees keys that the model's mask cuts off."""
        return bool((~self.real.allowed & ~self.shown.scores.isneginf()).any())


def strongest(row: "DerivedRow") -> int:
    """The key with the largest weight, the first of several."""
    return int(row.weights.argmax())


def shown_keys(origin: Origin) -> list[int]:
    """The keys that get a column, in reading order: all, or the strongest in either row with the one that is followed.

    Keys that the mask cuts off weigh nothing, so of a long text they are among those summed up.
    """
    weights = origin.real.weights.numpy()
    if origin.other is not None:
        weights = np.maximum(weights, origin.other.weights.numpy())
    # The column of a single key that is left out would be as wide as the key's own.
    if len(weights) <= MAX_COLUMNS + 1:
        return list(range(len(weights)))
    order = [origin.followed, *(key for key in np.argsort(-weights, kind="stable") if key != origin.followed)]
    return sorted(int(key) for key in order[:MAX_COLUMNS])


def story(origin: Origin) -> dict[str, Any]:
    """Everything that is drawn, as plain data: `columns` are the shown keys, `rest` sums up the others."""
    keys, shown = shown_keys(origin), origin.shown
    rest = [key for key in range(len(origin.key_tokens)) if key not in set(keys)]
    return words(origin) | {
        "columns": [
            {"label": display_token(origin.key_tokens[key]), "key": key, "gap": key != previous + 1}
            for previous, key in zip([-1, *keys], keys, strict=False)
        ],
        "restCount": len(rest),
        "note": _note(len(keys), len(rest)),
        "followed": keys.index(origin.followed),
        "q": _numbers(shown.query),
        "k": _numbers(shown.keys[keys]),
        "products": _numbers(shown.products[keys]),
        "dots": _numbers(shown.dots[keys]),
        "restDots": _range(shown.dots[rest]),
        "real": _path(origin.real, keys, rest),
        "other": None if origin.other is None else _path(origin.other, keys, rest),
        "ahead": [not allowed for allowed in origin.real.allowed[keys].tolist()],
        "values": _numbers(shown.values[keys]),
        "weighted": _numbers(shown.weighted_values[keys]),
        "restWeighted": _numbers(shown.weighted_values[rest].sum(0)) if rest else None,
        "output": _numbers(shown.head_output),
        "part": _numbers(origin.parts[origin.head] if origin.other_part is None else origin.other_part),
    }


def words(origin: Origin) -> dict[str, Any]:
    """What does not follow from queries, keys, values and weights: sentences, and how much each head adds."""
    return {
        "query": display_token(origin.row_name),
        "writes": origin.rows_write,
        "isScaled": origin.is_scaled,
        "score": SCORES[origin.score].short,
        "head": origin.head,
        "lengths": _numbers(np.linalg.norm(origin.parts, axis=1)),
        "otherLength": None if origin.other_part is None else _number(float(np.linalg.norm(origin.other_part))),
        "allLength": _number(float(np.linalg.norm(origin.parts.sum(0)))),
        "changed": changed(origin),
        "summary": summary(origin),
        "steps": steps(origin),
    }


def changed(origin: Origin) -> str:
    """What the thrown switches leave out; empty where the model is as it is."""
    if origin.other is None:
        return ""
    if origin.is_scaled:
        return _("Without mask") if origin.looks_ahead else ""
    return _("Without √dₖ and mask") if origin.looks_ahead else _("Without √dₖ")


def summary(origin: Origin) -> list[dict[str, Any]]:
    """The row in a few figures, of the model and of the other one: strongest key, entropy, largest change."""
    rows = [origin.real] if origin.other is None else [origin.real, origin.other]
    tops = [(strongest(row), float(row.weights.max())) for row in rows]
    lines: list[dict[str, Any]] = [
        {
            "name": _("Largest weight on"),
            "cells": [
                {"token": display_token(origin.key_tokens[key]), "text": f"{weight:.3f}"} for key, weight in tops
            ],
        },
        {
            "name": _("Entropy"),
            "cells": [
                {"text": _("{own:.2f} of at most {most:.2f} bits", own=abs(row.entropy), most=row.max_entropy)}
                for row in rows
            ],
        },
    ]
    if origin.other is not None:
        change = (origin.other.weights - origin.real.weights).numpy()
        key = int(np.abs(change).argmax())
        moved = {"token": display_token(origin.key_tokens[key]), "text": signed(float(change[key]), 3)}
        lines.append({"name": _("Largest change"), "cells": [{"text": ""}, moved]})
    return lines


def _note(drawn: int, left_out: int) -> str:
    if not left_out:
        return ""
    message = (
        "The {drawn} strongest of {count} keys are shown, in reading order; a dotted line marks where keys are "
        "omitted. The last column summarises the other {left_out}: the range of their scores and the sum of their "
        "weights. To see one of them, choose it as key."
    )
    return _(message, drawn=drawn, count=drawn + left_out, left_out=left_out)


def _path(row: "DerivedRow", keys: list[int], rest: list[int]) -> dict[str, object]:
    """Scores, shares and weights of the shown keys, and of all others: range, or sum."""
    return {
        "scaled": _numbers(row.scaled[keys]),
        "restScaled": _range(row.scaled[rest]),
        "cut": row.scores[keys].isneginf().tolist(),
        "restCut": int(row.scores[rest].isneginf().sum()),
        "shares": _numbers(row.shares[keys]),
        "restShares": _number(float(row.shares[rest].sum())),
        "sharesSum": _number(float(row.shares.sum())),
        "weights": _numbers(row.weights[keys]),
        "restWeight": _number(float(row.weights[rest].sum())),
        "weightsSum": _number(float(row.weights.sum())),
    }


def _range(values: ArrayLike) -> list[float] | None:
    exact = np.asarray(values, np.float64)
    return [_number(float(exact.min())), _number(float(exact.max()))] if exact.size else None


def _numbers(values: ArrayLike) -> list[object]:
    """Lists of numbers with six digits: more than is ever shown, and half as long to send."""
    exact = np.asarray(values, np.float64)
    size = np.abs(exact)
    factor = 10.0 ** (5 - np.floor(np.log10(np.where(size > 0, size, 1.0))))
    rounded: list[object] = (np.round(exact * factor) / factor).tolist()
    return rounded


def _number(value: float) -> float:
    return float(f"{value:.6g}")


def steps(origin: Origin) -> list[dict[str, str]]:
    """Title, formula and sentence of each of the seven steps."""
    d_k, d_v, words = len(origin.real.query), len(origin.real.head_output), SCORES[origin.score]
    message = (
        "Each key's value, {d_v} components from top to bottom, times its weight. Their sum from left to right is the "
        "head's output z."
    )
    sentences = (
        (_(words.title), words.formula, _(words.text, d_k=d_k)),
        (_("A score for every key"), f"{words.short}ⱼ", _("The higher the bar, the better the key matches the query.")),
        (_scaling_title(origin), _scaling_formula(origin), _scaling_sentence(origin)),
        (
            _("Mask left out") if origin.looks_ahead else _("Mask"),
            _("sⱼ = −∞ where the mask forbids it"),
            _mask_sentence(origin),
        ),
        (_("Softmax"), "αⱼ = exp(sⱼ − m) ÷ Σ exp(s − m)", _softmax_sentence(origin)),
        (_("Weights × values"), "z = Σ αⱼ vⱼ", _(message, d_v=d_v)),
        output_step(len(origin.real.head_output), *origin.parts.shape, has_projection=origin.has_projection),
    )
    return [{"title": title, "formula": formula, "text": text} for title, formula, text in sentences]


def _scaling_formula(origin: Origin) -> str:
    divisor, score = 1 / origin.real.scale, f"{SCORES[origin.score].short}ⱼ"
    formula = f"{score} ÷ {divisor:.3g}" if origin.is_scaled else f"{score} ÷ 1"
    is_paper = math.isclose(divisor**2, len(origin.real.query), rel_tol=1e-4)
    if not (is_paper and origin.is_scaled):
        return formula
    return _("{formula}, since √{d_k} = {root:.3g}", formula=formula, d_k=len(origin.real.query), root=divisor)


def _scaling_title(origin: Origin) -> str:
    if origin.real.scale == 1:
        return _("No division by √dₖ at this step")
    return _("Divide by √dₖ") if origin.is_scaled else _("Without the division by √dₖ")


def _scaling_sentence(origin: Origin) -> str:
    if origin.is_scaled and origin.added:
        return origin.added
    if origin.real.scale == 1:
        return _("The scores stay as they are: a model that scales its queries has done so in q.")
    if origin.is_scaled:
        return _("On the same scale as the scores below; the outline shows them before the division.")
    message = "The scores stay {times:.3g} times as large as the model's, which are outlined in blue."
    return _(message, times=1 / origin.real.scale)


def _mask_sentence(origin: Origin) -> str:
    cut, is_window = int((~origin.real.allowed).sum()), hides_by_distance(origin)
    if origin.looks_ahead and is_window:
        return plural(
            "The row sees {count} key outside its window, marked ▲, which the model's mask hides.",
            "The row sees {count} keys outside its window, marked ▲, which the model's mask hides.",
            cut,
        )
    if origin.looks_ahead:
        return plural(
            "The row sees {count} key written after it, marked ▲. When the model translates, this key does not exist "
            "yet; the recording is complete, so its k and v are known.",
            "The row sees {count} keys written after it, marked ▲. When the model translates, these keys do not exist "
            "yet; the recording is complete, so their k and v are known.",
            cut,
        )
    if is_window:
        return plural(
            "This mask is a window: a row may not attend to keys too far away. {count} key is masked.",
            "This mask is a window: a row may not attend to keys too far away. {count} keys are masked.",
            cut,
        )
    if cut:
        return plural(
            "A row may not attend to what is written after it: {count} key is masked. exp(−∞) = 0, so its weight is 0.",
            "A row may not attend to what is written after it: {count} keys are masked. exp(−∞) = 0, so their "
            "weights are 0.",
            cut,
        )
    if origin.site == DECODER:
        return _("The last row: nothing is written after it, so no key is masked.")
    return _("No key is masked here: the mask allows every key and changes nothing.")


def hides_by_distance(origin: Origin) -> bool:
    """Whether the mask of the row is a window: an encoder hides nothing else, and a decoder then hides earlier keys."""
    allowed = origin.real.allowed.tolist()
    if origin.site == DECODER:
        return any(allowed) and not allowed[0]
    return origin.site == ENCODER and not all(allowed)


def _softmax_sentence(origin: Origin) -> str:
    if origin.other is None:
        return _(
            "Cells: exp(score − m), where m is the largest score. Divided by their sum, they give the weights α (the "
            "bars), which sum to 1."
        )
    message = (
        "Cells: exp(score − m), where m is the largest score. Divided by their sum, they give the weights α (the "
        "bars), which sum to 1. Blue is the model, orange the variant: entropy {before:.2f} → {after:.2f} bits."
    )
    return _(message, before=abs(origin.real.entropy), after=abs(origin.other.entropy))


def output_step(d_v: int, heads: int, d_model: int, *, has_projection: bool) -> tuple[str, str, str]:
    """Title, formula and sentence.

    Args:
        d_v: numbers that the head puts out.
        heads, d_model: heads whose parts are added, and numbers of each part.
        has_projection: whether W_O follows.
    """
    if not has_projection:
        text = _(
            "No matrix follows: the {d_v} numbers are the context that the decoder reads; the bar is its norm.", d_v=d_v
        )
        return _("The context"), "c = z", text
    title = _("This head's contribution to the output")
    if heads == 1:
        message = (
            "W_O maps the {d_v} numbers to {d_model}. There is no other head; the bar is the norm of its contribution."
        )
        text = _(message, d_v=d_v, d_model=d_model)
        return title, "z · W_O", text
    message = (
        "W_O maps the {d_v} numbers to {d_model}. The contributions of all {heads} heads are added; the bars are their "
        "norms. They point in different directions, so norms do not add up."
    )
    text = _(message, d_v=d_v, d_model=d_model, heads=heads)
    return title, _("z · W_O (this head's rows)"), text
