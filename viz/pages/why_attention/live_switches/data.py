"""What becomes of a translation when a part of the model is taken out, at once for one sentence, as a job for many."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from model.errors import EditError
from viz.server.background_jobs import Progress, Task
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Translator
    from model.analysis.interventions.parts_off import Part, PartOff, PartScore

#: The parts of `model.analysis.interventions.parts_off`, in the order in which the table has them.
PARTS: "Final[tuple[Part, ...]]" = ("positions", "scaling", "heads", "residuals", "norms")
#: Sentences that are scored: those of our own corpus.
SENTENCES: Final = 200


@dataclass(frozen=True, slots=True)
class Without:
    """A sentence translated without a part, or why the model has no such part."""

    off: "PartOff"
    translation: str = ""
    lacking: str = ""


@dataclass(frozen=True, slots=True)
class Translations:
    """A sentence translated by the whole model, and without each part."""

    whole: str
    without: tuple[Without, ...]


def parts_off(layer: int | None, kept_head: int) -> "tuple[PartOff, ...]":
    """Every part, taken out in one layer (from 0) or in all."""
    from model.analysis.interventions.parts_off import PartOff

    return tuple(PartOff(part, None if part == "positions" else layer, kept_head) for part in PARTS)


def sentence_task(translator: "Translator", text: str, offs: "tuple[PartOff, ...]") -> "Task[Translations]":
    """The translation of a sentence by the whole model and without each of the parts."""
    from model.analysis.interventions.parts_off import translate_without

    def compute(progress: Progress) -> Translations:
        whole = translate_without(translator, [text], None, progress)[0]
        return Translations(whole, tuple(_without(translator, text, off, progress) for off in offs))

    return Task(
        ("sentence without parts", translator.key, text, offs),
        1 + len(offs),
        said("translations"),
        compute,
        said("Translating without each part: {done} of {total}"),
    )


def _without(translator: "Translator", text: str, off: "PartOff", progress: Progress) -> Without:
    from model.analysis.interventions.parts_off import translate_without

    try:
        return Without(off, translate_without(translator, [text], off, progress)[0])
    except EditError as error:
        progress(1)
        return Without(off, lacking=error.message)


def score_task(translator: "Translator", offs: "tuple[PartOff, ...]") -> "Task[tuple[PartScore, ...]]":
    """The translation of our own corpus by the whole model and without each of the parts."""
    from model.analysis.interventions.parts_off import score_without

    return Task(
        ("parts off", translator.key, offs),
        SENTENCES * (1 + len(offs)),
        said("translations"),
        lambda progress: score_without(translator, offs, progress),
        said("Translating: {done} of {total}, about {left:.0f} s left"),
    )
