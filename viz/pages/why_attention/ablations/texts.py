"""Say in sentences what a small model is and what is wrong with its output; from numbers alone."""

from collections.abc import Sequence
from typing import Final

from viz.pages.why_attention.ablations.data.compared import Measured
from viz.pages.why_attention.ablations.data.measured import Row

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
    return "the full model" if preset == FULL else f"the model “{label(preset)}”"


def findings(measured: Measured, reference: str) -> str:
    """What is wrong with what a model wrote, as sentences.

    Args:
        measured: of its output.
        reference: the model that it is compared with.
    """
    is_reference = measured.output.preset == reference
    said = ["The others are compared with it."] if is_reference else [_of_words(measured, reference_name(reference))]
    repetition = measured.repetition
    if repetition.count >= REPEATED:
        said.append(f"It writes “{repetition.token.removeprefix('▁')}” {repetition.count} times in a row.")
    if not measured.has_ended:
        said.append(f"It does not end by itself: the limit stops it after {measured.tokens} tokens.")
    if measured.same_backwards:
        said.append("With the words of the sentence in reverse order it writes the very same.")
    elif is_reference:
        said.append("With the words of the sentence in reverse order it writes something else.")
    if measured.stunted:
        said.append(f"{measured.stunted} of {OTHERS} other sentences become one or two different words, or none.")
    elif is_reference:
        said.append(f"None of {OTHERS} other sentences becomes fewer than three different words.")
    return " ".join(said)


def _of_words(measured: Measured, reference: str) -> str:
    words = measured.words
    if not words.total:
        return f"There is nothing to compare: {reference} wrote no word."
    if not words.shared:
        return f"It has none of the {words.total} words that {reference} wrote."
    if measured.output.likeness == 100:
        return f"It writes what {reference} wrote, word for word."
    has = f"all words of {reference}" if words.shared == words.total else _of(words.shared, words.total, reference)
    if words.shared == 1:
        return f"It has {has}."
    return (
        f"It has {has}, {'in the same order' if words.in_order == words.shared else f'{words.in_order} in its order'}."
    )


def _of(shared: int, total: int, reference: str) -> str:
    return f"{shared} of the {total} words that {reference} wrote"


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
