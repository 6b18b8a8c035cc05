"""Heads and sentences of which one asks what they change."""

from typing import Literal, NamedTuple, get_args

import pytest

from model import Translator
from model.analysis.corpus import CorpusSentence
from model.analysis.interventions.head_effects import Replacement, mean_outputs
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.nn.edit_hooks import Edits
from model.word_choice import Choice, TokenPlace
from tests.conftest import SENTENCES

Measure = Literal["texts", "words"]
MEASURES = get_args(Measure)


class Case(NamedTuple):
    """A source sentence, its right translation, and a wrong one."""

    source: str
    right: str
    wrong: str


CASES = [
    Case(SENTENCES[0], "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."),
    Case("Tom told me.", "Tom sagte mir, dass er morgen kommen würde.", "Tom sagte mir."),
    Case(SENTENCES[4], "Sie lasen es.", "Er las es."),
]
CORPUS = [CorpusSentence(SENTENCES[2], SENTENCES[3]), CorpusSentence(SENTENCES[4]), CorpusSentence(SENTENCES[6], "Ja.")]
HEADS = [HeadName("encoder.self", 0, 3), HeadName("decoder.self", 1, 0), HeadName("decoder.cross", 0, 2)]


def choices_of(translator: Translator, measure: Measure, cases: list[Case] = CASES) -> list[Choice]:
    made = translator.text_choice if measure == "texts" else translator.word_choice
    return [made(*case) for case in cases]


def log_odds(translator: Translator, case: Case, edits: Edits, measure: Measure = "texts") -> float:
    """As two traces have them: of all tokens, or of the first that differ."""
    right, wrong = (translator.trace(case.source, target, edits=edits).steps for target in case[1:])
    if measure == "texts":
        return sum(step.log_prob for step in right) - sum(step.log_prob for step in wrong)
    a, b = next((a, b) for a, b in zip(right, wrong, strict=False) if a.token_id != b.token_id)
    return a.log_prob - b.log_prob


def number_of(translator: Translator, head: HeadName) -> int:
    return all_heads(translator.abilities.heads).index(head)


@pytest.fixture(scope="module")
def means(translator: Translator) -> Replacement:
    traces = [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]
    return mean_outputs(translator, [TokenPlace(tuple(t.source_ids), tuple(t.target_ids), 0) for t in traces])
