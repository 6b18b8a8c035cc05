"""One sentence through the small models, what all their seeds measured, and parts taken out of a trained translator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from jaxtyping import Float

from model import Trace, later
from model.analysis.ablations import results as summed
from model.analysis.ablations.results import AblationResults
from model.analysis.metrics.head_metrics import AttentionRows, confidence
from model.errors import EditError, InputTextError
from model.sequence_translator import SequenceTranslator
from viz.access import models, traces
from viz.access.attention import MatrixView, shown_axes
from viz.selection import catalogue
from viz.selection.choices import Device, ModelChoice
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.messages import said

if TYPE_CHECKING:
    from model.analysis.ablations.outputs import Repetition, SharedWords
    from model.analysis.interventions.parts_off import PartScore
    from model.parts.removal import Part, PartOff
    from model.reader import Writer
#: As many models as are shown at once.
MOST: Final = 4
HARD: Final = 0.99
#: As many models as there are, and some of other folders.
MAX_KEPT: Final = 32


@dataclass(frozen=True, slots=True)
class Output:
    """What one model makes of the sentence."""

    preset: str  #: which model
    translation: str  #: as it wrote it
    likeness: float  #: chrF against the reference's translation, 0 to 100


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of the output of a model that is shown."""

    output: Output  #: its translation
    words: "SharedWords"  #: how many words of the reference's translation it has
    repetition: "Repetition"  #: the longest run of one token in it
    tokens: int  #: how many were written
    has_ended: bool  #: whether the model ended it itself
    same_backwards: bool  #: whether the words in reverse order become the very same
    stunted: int  #: how many of `outputs.OTHERS` other sentences become at most `outputs.FEW_WORDS` different words


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sentence through all models."""

    outputs: tuple[Output, ...] = ()  #: of every model, in the order of the presets; the first is the reference
    shown: tuple[Measured, ...] = ()  #: of those that are looked at
    refused: str = ""  #: why the models cannot read the sentence; "" where they can


@dataclass(frozen=True, slots=True)
class SetResult:
    """What was measured of one model on one set."""

    #: bleu, chrf: mean and standard deviation over seeds, NaN for one seed.
    bleu: tuple[float, float]
    chrf: tuple[float, float]
    differences: Mapping[int, float]  #: seed → BLEU less the full model's of the same seed
    difference: tuple[float, float] | None  #: their mean and standard deviation; None of the full model itself


@dataclass(frozen=True, slots=True)
class Row:
    """One model of the table."""

    preset: str  #: which
    runs: int  #: how many seeds were measured
    sets: Mapping[str, SetResult]  #: set → what was measured on it
    tokens_per_second: float | None  #: in training, of one thread; None where it was not timed
    paper: float | None  #: BLEU less the base model's in Table 3; None where it has no such row


#: The parts of `model.parts.removal`, in the order in which the table has them.
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


def presets() -> tuple[str, ...]:
    """The models that are there, in the order in which the table has them; the first is the reference."""
    return tuple(preset for preset in later.ablations.ABLATIONS if preset in catalogue.experiments())


def what(preset: str) -> str:
    """How a model differs from the full one, in a few words."""
    return later.ablations.ABLATIONS[preset].what


def choice_of(preset: str, device: Device) -> ModelChoice:
    """A model as the list of models has it."""
    return ModelChoice(checkpoint=f"{catalogue.EXPERIMENTS}/{preset}", device=device)


def trace(preset: str, device: Device, text: str) -> Trace:
    """What a model did with the sentence. Raises as `models.reader` and `traces.trace`."""
    return traces.written_alone(models.writer(choice_of(preset, device)), text)


def lacks(preset: str, device: Device, site: str) -> str:
    """Why a model has no such attention, as a sentence; "" where it has."""
    abilities = models.abilities(choice_of(preset, device))
    if not abilities.sites:
        return said("This model has no attention: its decoder reads one vector, the encoder's last states.")
    return (
        ""
        if site in abilities.sites
        else abilities.lacks.get("self-attention", said("This model has no attention of this kind."))
    )


def farthest(outputs: Sequence[Output]) -> str | None:
    """The model whose translation is least like the reference's, of equal ones the first; None without another."""
    others = outputs[1:]
    return min(others, key=lambda output: output.likeness).preset if others else None


def comparison_task(names: tuple[str, ...], chosen: tuple[str, ...], device: Device, text: str) -> "Task[Comparison]":
    """The sentence through all of these models, the reference first.

    Looked at are those that are chosen; without any, the reference and the one that is farthest from it.
    """
    stamps = tuple(models.stamp(choice_of(name, device)) for name in names)
    return Task(
        ("ablations", names, stamps, chosen, device, text),
        len(names) + (len(chosen) or 2),
        said("models"),
        lambda progress: _compare(names, chosen, device, text, progress),
        said("Translating with small models: {done} of {total} steps"),
    )


def _compare(
    names: tuple[str, ...], chosen: tuple[str, ...], device: Device, text: str, progress: Progress
) -> Comparison:
    translations: dict[str, str] = {}
    for name in names:
        try:
            translations[name] = trace(name, device, text).translation
        except InputTextError as error:
            return Comparison(refused=error.message)
        progress(1)
    reference = translations[names[0]]
    outputs = tuple(
        Output(name, written, later.outputs.likeness(reference, written)) for name, written in translations.items()
    )
    shown = chosen or tuple(filter(None, (names[0], farthest(outputs))))
    measured = []
    for output in outputs:
        if output.preset in shown:
            measured.append(_measure(output, reference, device, text))
            progress(1)
    return Comparison(outputs, tuple(measured))


def _measure(output: Output, reference: str, device: Device, text: str) -> Measured:
    run = trace(output.preset, device, text)
    translator = models.any_translator(choice_of(output.preset, device))
    return Measured(
        output,
        later.outputs.shared_words(reference, output.translation),
        later.outputs.longest_repetition(run),
        len(run.steps),
        later.outputs.has_ended(run),
        later.outputs.try_backwards(translator, run),
        _stunted(translator),
    )


@cached(max_entries=MAX_KEPT)
def _stunted(translator: SequenceTranslator) -> int:
    return later.outputs.count_stunted(translator)


def training_steps() -> int:
    """For how many steps each small model was trained."""
    return later.ablations.SETTINGS.steps


def rows(results: AblationResults) -> tuple[Row, ...]:
    """A row for each model that was measured, in the order of the presets."""
    table = []
    for preset in later.ablations.ABLATIONS:
        sets = {}
        for name in summed.dev_sets(results):
            bleu, chrf = (summed.score_of(results, preset, name, measure) for measure in ("bleu", "chrf"))
            if bleu is None or chrf is None:
                continue
            differences = {} if preset == "full" else summed.differences_from_full(results, preset, name)
            spread = summed.over_seeds(list(differences.values()))[:2] if differences else None
            sets[name] = SetResult(bleu[:2], chrf[:2], differences, spread)
        if sets:
            runs = len({run.seed for run in results.runs if run.preset == preset})
            speed = results.tokens_per_second.get(preset)
            table.append(Row(preset, runs, sets, speed, later.ablations_table.paper_difference(preset)))
    return tuple(table)


@dataclass(frozen=True, eq=False, slots=True)
class OpenHead:
    """One head of a trace; `weights` are read-only, labels as people read them, numbers count from 0."""

    layer: int
    head: int
    weights: Float[np.ndarray, "row key"]
    rows: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def hard_rows(self) -> int:
        """How many rows give one key at least `HARD` of their weight: there a softmax hardly passes a gradient."""
        return int((self.weights.max(axis=1) >= HARD).sum())


def open_head(trace: Trace, site: str, layer: int | None, head: int | None) -> OpenHead | None:
    """Return a head of a trace, the surest where layer or head is not given; None if it does not exist."""
    found = surest(trace, site, layer, head)
    if found is None:
        return None
    weights = trace.weights(site, found[0], [found[1]])[0].numpy()
    weights.setflags(write=False)
    queries, keys = shown_axes(trace, site, MatrixView("weights", whole_words=False, sinks=True))
    return OpenHead(*found, weights, queries.labels, keys.labels)


@cached(max_entries=256)
def surest(trace: Trace, site: str, layer: int | None, head: int | None) -> tuple[int, int] | None:
    """The head whose rows give one key the most on average, the end of a sentence left out; of equal ones the first.

    Of `layer` and `head`, None means all.
    """
    queries, keys = trace.axis_tokens(site)
    ranked = []
    for at in range(trace.layers_of(site)) if layer is None else [layer] if layer < trace.layers_of(site) else []:
        weights = trace.weights(site, at)
        rows = AttentionRows(weights, trace.mask(site, at), site, keys, queries, keys[-1])
        means = np.nan_to_num(confidence(rows).mean().numpy(), nan=-1.0)
        ranked += [(float(mean), -at, -number) for number, mean in enumerate(means) if head in (None, number)]
    return (-max(ranked)[1], -max(ranked)[2]) if ranked else None


def parts_off(layer: int | None, kept_head: int) -> "tuple[PartOff, ...]":
    """Every part, taken out in one layer (from 0) or in all."""
    return tuple(later.removal.PartOff(part, None if part == "positions" else layer, kept_head) for part in PARTS)


def sentence_task(translator: "Writer", text: str, offs: "tuple[PartOff, ...]") -> "Task[Translations]":
    """The translation of a sentence by the whole model and without each of the parts."""

    def compute(progress: Progress) -> Translations:
        whole = later.parts_off.translate_without(translator, [text], None, progress)[0]
        return Translations(whole, tuple(_without(translator, text, off, progress) for off in offs))

    return Task(
        ("sentence without parts", translator.key, text, offs),
        1 + len(offs),
        said("translations"),
        compute,
        said("Translating without each part: {done} of {total}"),
    )


def _without(translator: "Writer", text: str, off: "PartOff", progress: Progress) -> Without:
    try:
        return Without(off, later.parts_off.translate_without(translator, [text], off, progress)[0])
    except EditError as error:
        progress(1)
        return Without(off, lacking=error.message)


def score_task(translator: "Writer", offs: "tuple[PartOff, ...]") -> "Task[tuple[PartScore, ...]]":
    """The translation of our own corpus by the whole model and without each of the parts."""
    return Task(
        ("parts off", translator.key, offs),
        SENTENCES * (1 + len(offs)),
        said("translations"),
        lambda progress: later.parts_off.score_without(translator, offs, progress),
        said("Translating: {done} of {total}, about {left:.0f} s left"),
    )
