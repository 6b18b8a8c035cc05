"""Small models and what they write in words: names, shortened translations, what is wrong with one."""

import re
from collections.abc import Sequence
from typing import Final

from viz.pages.experiments.data.ablations import Measured, Row
from viz.text import messages
from viz.text.messages import _
from viz.text.written import signed

#: So many characters of a translation are shown.
MAX_SHOWN: Final = 160
#: So many letters without a space get a place where a line may end, which is not seen.
_ENDLESS: Final = re.compile(r"\S{18}(?=\S)")
FULL: Final = "full"
#: From so many times in a row on, a token counts as repeated.
REPEATED: Final = 4
#: Translations of few different words are counted, of so many other sentences: `outputs` of the model.
OTHERS: Final = 20


def shortened(translation: str) -> str:
    """A translation that goes on and on with its end cut off; an endless word may break across lines."""
    shown = translation if len(translation) <= MAX_SHOWN else translation[:MAX_SHOWN] + " …"
    return _ENDLESS.sub("\\g<0>\u200b", shown)


def label(preset: str) -> str:
    """What a model is called on the page."""
    return preset.replace("-", " ")


def reference_name(preset: str) -> str:
    """What the model is called that others are compared with, within a sentence."""
    return _("the full model") if preset == FULL else _("the model “{name}”", name=label(preset))


def findings(measured: Measured, reference: str) -> str:
    """What is wrong with what a model wrote, beside the model `reference`, as sentences."""
    is_reference = measured.output.preset == reference
    sentences = [_("The others are compared with it.")]
    if not is_reference:
        sentences = [_of_words(measured, reference_name(reference))]
    repetition = measured.repetition
    if repetition.count >= REPEATED:
        token = repetition.token.removeprefix("▁")
        sentences.append(_("It writes “{token}” {count} times in a row.", token=token, count=repetition.count))
    if not measured.has_ended:
        sentences.append(
            _("It does not end by itself: the limit stops it after {tokens} tokens.", tokens=measured.tokens)
        )
    if measured.same_backwards:
        sentences.append(_("With the words of the sentence in reverse order, its output is exactly the same."))
    elif is_reference:
        sentences.append(_("With the words of the sentence in reverse order, its output is different."))
    if measured.stunted:
        message = "The translations of {stunted} of {others} other sentences have at most two different words."
        sentences.append(_(message, stunted=measured.stunted, others=OTHERS))
    elif is_reference:
        sentences.append(
            _("The translations of all {others} other sentences have at least three different words.", others=OTHERS)
        )
    return messages.in_a_row(sentences)


def _of_words(measured: Measured, reference: str) -> str:
    words = measured.words
    if not words.total:
        return _("There is nothing to compare: {reference} wrote no word.", reference=reference)
    if not words.shared:
        return _("It has none of the {total} words that {reference} wrote.", total=words.total, reference=reference)
    if measured.output.likeness == 100:
        return _("It writes what {reference} wrote, word for word.", reference=reference)
    numbers = {"shared": words.shared, "total": words.total, "reference": reference}
    if words.shared == 1:
        return _("It has {shared} of the {total} words that {reference} wrote.", **numbers)
    if words.in_order == words.shared:
        return _("It has {shared} of the {total} words that {reference} wrote, in the same order.", **numbers)
    message = "It has {shared} of the {total} words that {reference} wrote, {in_order} of them in the same order."
    return _(message, **numbers, in_order=words.in_order)


def spread(mean: float, deviation: float, *, is_difference: bool = False) -> str:
    """A mean with its standard deviation, which a single run does not have."""
    shown = signed(mean, 1) if is_difference else f"{mean:.1f}"
    return f"{shown} ± {deviation:.1f}" if deviation == deviation else shown


def within_spread(rows: Sequence[Row], dev_set: str) -> tuple[str, ...]:
    """The models whose difference from the full one is smaller than its spread over seeds."""
    differences = ((row.preset, row.sets[dev_set].difference) for row in rows if dev_set in row.sets)
    return tuple(preset for preset, of in differences if of is not None and abs(of[0]) < of[1])
