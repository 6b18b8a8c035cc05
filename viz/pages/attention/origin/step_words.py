"""What the seven steps of the story say: title, formula and sentence of each, by the numbers of its row."""

import math
from typing import TYPE_CHECKING

import numpy as np

from viz.pages.attention.origin.output_words import output_step
from viz.pages.attention.origin.score_words import SCORES
from viz.text.messages import _, plural
from viz.text.sites import CROSS, DECODER

if TYPE_CHECKING:
    from viz.pages.attention.origin.story import Origin


def steps(origin: "Origin") -> list[dict[str, str]]:
    """Title, formula and sentence of each of the seven steps."""
    d_k, d_v, words = len(origin.real.query), len(origin.real.head_output), SCORES[origin.score]
    sentences = (
        (_(words.title), words.formula, _(words.text, d_k=d_k)),
        (
            _("The same for every key"),
            f"{words.short}ⱼ",
            _("The higher the bar, the better the key matches the query."),
        ),
        (
            _scaling_title(origin),
            _scaling_formula(origin),
            _scaling_sentence(origin),
        ),
        (
            _("Mask left out") if origin.looks_ahead else _("Mask"),
            _("sⱼ = −∞ where the mask says no"),
            _mask_sentence(origin),
        ),
        (_("Softmax"), "αⱼ = exp(sⱼ − m) ÷ Σ exp(s − m)", _softmax_sentence(origin)),
        (
            _("Weights × values"),
            "z = Σ αⱼ vⱼ",
            _(
                "Each key's value, {d_v} numbers from top to bottom, times its weight. Added up from left to right "
                "they are the head's output z.",
                d_v=d_v,
            ),
        ),
        output_step(len(origin.real.head_output), *origin.parts.shape, has_projection=origin.has_projection),
    )
    return [{"title": title, "formula": formula, "text": text} for title, formula, text in sentences]


def _scaling_formula(origin: "Origin") -> str:
    divisor, score = 1 / origin.real.scale, f"{SCORES[origin.score].short}ⱼ"
    formula = f"{score} ÷ {divisor:.3g}" if origin.is_scaled else f"{score} ÷ 1"
    is_paper = math.isclose(divisor**2, len(origin.real.query), rel_tol=1e-4)
    if not (is_paper and origin.is_scaled):
        return formula
    return _("{formula}, since √{d_k} = {root:.3g}", formula=formula, d_k=len(origin.real.query), root=divisor)


def _scaling_title(origin: "Origin") -> str:
    if origin.real.scale == 1:
        return _("This model does not divide by √dₖ")
    return _("Divide by √dₖ") if origin.is_scaled else _("Division by √dₖ left out")


def _scaling_sentence(origin: "Origin") -> str:
    if origin.is_scaled and origin.added:
        return origin.added
    if origin.is_scaled:
        return _("On the same ruler as above; the outline is what was there before.")
    return _(
        "The scores stay {times:.3g} times as large as the model's, which are outlined in blue.",
        times=1 / origin.real.scale,
    )


def _mask_sentence(origin: "Origin") -> str:
    cut = int((~origin.real.allowed).sum())
    if origin.looks_ahead:
        return plural(
            "The row looks ahead at {count} key written after it, marked ▲. While translating they do not exist yet; "
            "the recording is complete, so their k and v are known.",
            "The row looks ahead at {count} keys written after it, marked ▲. While translating they do not exist yet; "
            "the recording is complete, so their k and v are known.",
            cut,
        )
    if cut and origin.site != CROSS and _cuts_before(origin):
        return plural(
            "This mask is a window: a row may not look at what lies too far from it. {count} key cut off.",
            "This mask is a window: a row may not look at what lies too far from it. {count} keys cut off.",
            cut,
        )
    if cut:
        return plural(
            "A row may not look at what is written after it: {count} key cut off. exp(−∞) is 0, so no weight.",
            "A row may not look at what is written after it: {count} keys cut off. exp(−∞) is 0, so no weight.",
            cut,
        )
    if origin.site == DECODER:
        return _("The last row: nothing is written after it, so nothing is cut off.")
    return _("A text on its own has no padding, so the mask lets every key through and changes nothing.")


def _cuts_before(origin: "Origin") -> bool:
    """Whether a key is cut off that stands before one that is not."""
    allowed = origin.real.allowed.numpy()
    return bool(allowed.any() and not allowed[: int(np.argmax(allowed)) + 1].all())


def _softmax_sentence(origin: "Origin") -> str:
    if origin.other is None:
        return _(
            "Above, how each score fares against the largest, m. Divided by their sum, these are the weights α below: "
            "they add up to 1."
        )
    return _(
        "Above, how each score fares against the largest, m. Divided by their sum, these are the weights α below: they "
        "add up to 1. Blue is the model, orange what would be: entropy {before:.2f} → {after:.2f} bits.",
        before=abs(origin.real.entropy),
        after=abs(origin.other.entropy),
    )
