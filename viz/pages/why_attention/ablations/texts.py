"""Say in sentences what a small model is and what is wrong with its output; from numbers alone."""

from collections.abc import Sequence
from typing import Final

from viz.pages.why_attention.ablations.data.compared import Measured
from viz.pages.why_attention.ablations.data.measured import Row
from viz.text import messages
from viz.text.messages import _

FULL: Final = "full"
#: From so many times in a row on, a token counts as repeated.
REPEATED: Final = 4
#: Translations of at most so many different words are counted, of so many other sentences: `outputs` of the model.
FEW_WORDS, OTHERS = 2, 20


def label(preset: str) -> str:
    """What a model is called on the page."""
    return preset.replace("-", " ")


def reference_name(preset: str) -> str:
    """What the model is called that others are compared with, within a sentence."""
    return _("the full model") if preset == FULL else _("the model “{name}”", name=label(preset))


def findings(measured: Measured, reference: str) -> str:
    """What is wrong with what a model wrote, as sentences.

    Args:
        measured: of its output.
        reference: the model that it is compared with.
    """
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
        sentences.append(_("With the words of the sentence in reverse order it writes the very same."))
    elif is_reference:
        sentences.append(_("With the words of the sentence in reverse order it writes something else."))
    if measured.stunted:
        sentences.append(
            _(
                "{stunted} of {others} other sentences become one or two different words, or none.",
                stunted=measured.stunted,
                others=OTHERS,
            )
        )
    elif is_reference:
        sentences.append(_("None of {others} other sentences becomes fewer than three different words.", others=OTHERS))
    return messages.in_a_row(sentences)


def _of_words(measured: Measured, reference: str) -> str:
    words = measured.words
    if not words.total:
        return _("There is nothing to compare: {reference} wrote no word.", reference=reference)
    if not words.shared:
        return _("It has none of the {total} words that {reference} wrote.", total=words.total, reference=reference)
    if measured.output.likeness == 100:
        return _("It writes what {reference} wrote, word for word.", reference=reference)
    if words.shared == words.total:
        which = _("all words of {reference}", reference=reference)
    else:
        which = _(
            "{shared} of the {total} words that {reference} wrote",
            shared=words.shared,
            total=words.total,
            reference=reference,
        )
    if words.shared == 1:
        return _("It has {words}.", words=which)
    if words.in_order == words.shared:
        return _("It has {words}, in the same order.", words=which)
    return _("It has {words}, {in_order} in its order.", words=which, in_order=words.in_order)


def signed(value: float) -> str:
    """A difference with one decimal and a real minus sign."""
    return f"{value:+.1f}".replace("-", "−")


def spread(mean: float, deviation: float, *, is_difference: bool = False) -> str:
    """A mean with its standard deviation, which a single run does not have."""
    shown = signed(mean) if is_difference else f"{mean:.1f}"
    return f"{shown} ± {deviation:.1f}" if deviation == deviation else shown


def within_spread(rows: Sequence[Row], dev_set: str) -> tuple[str, ...]:
    """The models whose difference from the full one is smaller than its spread over seeds."""
    differences = ((row.preset, row.sets[dev_set].difference) for row in rows if dev_set in row.sets)
    return tuple(preset for preset, of in differences if of is not None and abs(of[0]) < of[1])
