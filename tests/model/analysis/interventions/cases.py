"""Heads and sentences of which one asks what they change."""

from model import Translator
from model.analysis.corpus import CorpusSentence
from model.analysis.interventions.contrast import ContrastCase
from model.analysis.metrics.head_names import HeadName
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import SITES
from tests.conftest import SENTENCES

CASES = [
    ContrastCase(SENTENCES[0], "Das Tier war müde, weil es lief.", "Das Tier war müde, weil sie lief."),
    ContrastCase("Tom told me.", "Tom sagte mir, dass er morgen kommen würde.", "Tom sagte mir."),
]
CORPUS = [CorpusSentence(SENTENCES[2], SENTENCES[3]), CorpusSentence(SENTENCES[4]), CorpusSentence(SENTENCES[6], "Ja.")]
HEADS = [HeadName("encoder.self", 0, 3), HeadName("decoder.self", 1, 0), HeadName("decoder.cross", 0, 2)]


def log_odds(translator: Translator, case: ContrastCase, edits: Edits) -> float:
    right, wrong = (
        sum(step.log_prob for step in translator.trace(case.source, target, edits=edits).steps) for target in case[1:]
    )
    return right - wrong


def indices(head: HeadName) -> tuple[int, int, int]:
    return SITES.index(head.site), head.layer, head.head
