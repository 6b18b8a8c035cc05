"""The sentences with pronouns of the coreference page, and all heads scored over a set of them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from viz.access import findings
from viz.selection.common import Measure
from viz.server.background_jobs import Progress, Task
from viz.server.caches import cached
from viz.text.marks import Marks, word_spans
from viz.text.messages import said

if TYPE_CHECKING:
    from model import Reader
    from model.analysis.coreference.cases import PronounCase, PronounCases
    from model.analysis.coreference.measure import CoreferenceScores
    from model.analysis.coreference.pronoun_choice import PronounChoice
    from model.analysis.coreference.span_attention import Measure as ModelMeasure
    from model.sequence_translator import SequenceTranslator

#: What the selection calls a measure → what the model's analysis does.
MEASURES: "Final[Mapping[Measure, ModelMeasure]]" = {"weights": "raw", "norms": "norm", "rollout": "rollout"}
MAX_CHOICES: Final = 200


@dataclass(frozen=True, eq=False)
class CaseSet:
    """A set of sentences with pronouns: its name, its cases, and what tells it from others."""

    name: str
    cases: "PronounCases"
    digest: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A minimal pair: one of the curated set, or a person's own, which has no name.

    Attributes:
        name, group: "" of one's own sentences.
        cases: a case for each of its two sentences.
        is_control: whether its pronouns stand for neither candidate, or there are none.
    """

    name: str
    group: str
    cases: "tuple[PronounCase, PronounCase]"
    is_control: bool = False

    @property
    def is_own(self) -> bool:
        """Whether a person wrote it: then nobody knows which German is right."""
        return not self.name


def set_language(source: str) -> str:
    """The language of the set that is offered to models that read this one."""
    from model.analysis.coreference.case_files import set_language

    return set_language(source)


@cache
def curated(language: str = "en") -> CaseSet:
    """The set that ships in a language for which `set_language` has one."""
    from model.analysis.coreference.case_files import curated_cases

    is_english = language == "en"
    name, digest = ("the curated set", "curated") if is_english else (f"curated {language}", f"curated-{language}")
    return CaseSet(name, curated_cases(language), digest)


def read_cases(content: bytes, name: str) -> CaseSet:
    """The cases of a file that someone chose.

    Raises:
        DataError: it is of no form that can be read, too large, or none of its lines can be used.
    """
    from model.analysis.coreference.case_files import parse_pronoun_cases

    digest = hashlib.sha256(content).hexdigest()
    return CaseSet(name, parse_pronoun_cases(content, name), f"{digest}/{name.rpartition('.')[2].lower()}")


def pairs_of(text: str) -> Mapping[str, Pair]:
    """The pairs of the set that could hold a text, by their names."""
    return curated_pairs(findings.set_of(text))


def pairs_for(source: str) -> Mapping[str, Pair]:
    """The pairs that are offered to models that read this language."""
    return curated_pairs(set_language(source))


@cache
def curated_pairs(language: str = "en") -> Mapping[str, Pair]:
    """The pairs that ship in a language, by their names, in the order of their file."""
    from model.analysis.coreference.case_files import curated_cases

    of_pair: dict[str, list[PronounCase]] = {}
    for case in curated_cases(language).cases:
        of_pair.setdefault(case.pair, []).append(case)
    both = {name: (cases[0], cases[1]) for name, cases in of_pair.items() if len(cases) == 2}
    return MappingProxyType({name: Pair(name, of[0].group, of, of[0].is_control) for name, of in both.items()})


def marked_case(text: str, marks: Marks) -> "PronounCase | None":
    """A sentence with its pronoun and candidates, by word positions; None where one is missing or two are one."""
    from model.analysis.coreference.cases import PronounCase

    spans = word_spans(text)
    pronoun, antecedent, distractor = marks.positions
    if pronoun is None or antecedent is None or distractor is None or len(set(marks.positions)) < 3:
        return None
    return PronounCase(text, spans[pronoun], spans[antecedent], spans[distractor])


@cached(max_entries=MAX_CHOICES)
def pronoun_choice(translator: "SequenceTranslator", case: "PronounCase") -> "PronounChoice":
    """What the model writes for a pronoun, and how probable each of its rivals is there. Raises what the model does."""
    from model.analysis.coreference.pronoun_choice import pronoun_choice

    return pronoun_choice(translator, case)


def scores_task(cases: CaseSet, reader: "Reader", measure: Measure) -> Task["CoreferenceScores"]:
    """All heads scored over a set."""

    def compute(progress: Progress) -> "CoreferenceScores":
        from model.analysis.coreference.measure import measure_coreference

        return measure_coreference(reader, cases.cases, measure=MEASURES[measure], progress=progress)

    key = ("coreference", reader.key, cases.digest, measure)
    return Task(key, len(cases.cases.cases), said("sentences"), compute)
