"""The sentence frames of the pronoun curriculum: English, German, who fits in, and what tells whom “it” means.

Slots: `{a}` and `{b}` are the candidates, `{who}` a person, `{deg}` a degree word, `{cue}` what decides, `{it}` the
pronoun; in German with a case. Knows nothing of how sentences are drawn.
"""

from dataclasses import dataclass
from pathlib import Path

from model.training.lexicon import CUES


@dataclass(frozen=True)
class Frame:
    """A pair of templates.

    Attributes:
        name: of the frame.
        english, german: the templates.
        kind_a, kind_b: which nouns stand for the candidates; with an empty `kind_b` there is one candidate.
        about_a, about_b: cues (English, German) that make “it” mean the first or the second.
    """

    name: str
    english: str
    german: str
    kind_a: str
    kind_b: str
    about_a: tuple[tuple[str, str], ...]
    about_b: tuple[tuple[str, str], ...]

    @property
    def degrees(self) -> tuple[tuple[str, str], ...]:
        """Words for `{deg}`, English and German: “too” is a reason against something."""
        is_negative = "n't" in self.english or "not" in self.english or "although" in self.english
        return NEGATIVE_DEGREES if is_negative else POSITIVE_DEGREES


TABLE = Path(__file__).with_name("frames.txt")
"""One frame a line: name | English | German | kind of a, kind of b | cues about a | cues about b.

Where there is one candidate, the last column is empty and the fourth may name several kinds. `full=satt` is a cue with
a German word of its own for this frame; the others have theirs in the lexicon.
"""
GROUPS = {
    "@body": "tired hungry thirsty sick weak scared exhausted nervous lazy",
    "@feeling": "tired hungry thirsty sick exhausted nervous angry",
    "@path": "wide narrow slippery icy busy flooded muddy",
}
NEGATIVE_DEGREES = (("too", "zu"), ("too", "zu"), ("so", "so"), ("very", "sehr"))
POSITIVE_DEGREES = (("so", "so"), ("very", "sehr"), ("really", "wirklich"))

HELD_OUT_FRAMES = {
    "dev": (
        "jump although", "run into", "put on", "drink not", "sit and far", "climb", "eat passive", "catch", "leave",
        "text on", "put clothes", "play until", "drive across",
    ),
    "test": (
        "pull passive", "avoid passive", "outrun", "read far", "put fruit", "hang clothes", "carry until",
        "drive past", "notice not", "pour wait", "stuck in", "walk around", "cannot work", "wait outside",
        "trade clothes", "fall off", "drink after", "although asleep on", "scratch until", "when laid", "load onto",
        "saw on water", "lift onto", "left in front", "broke while", "when had left", "although always",
        "stuffed into", "came out", "summer in it", "hour with it", "evening on it",
    ),
}  # fmt: skip
"""Frames that no training sentence has, the same sentence with other kinds of nouns or another tense included.

The first eight of the test were written when dev frames had failed, to be like those; the others without knowledge of
any failure, as a sample of everyday sentences, after training had ended.
"""


def _cues(column: str) -> tuple[tuple[str, str], ...]:
    for group, cues in GROUPS.items():
        column = column.replace(group, cues)
    parts = (cue.partition("=") for cue in column.split())
    return tuple((english, german or CUES[english]) for english, _, german in parts)


def _read(line: str) -> Frame:
    name, english, german, kinds, about_a, about_b = (column.strip() for column in line.split("|"))
    first, *rest = kinds.split()
    # One candidate of several kinds (there is no {b}), or two candidates of one kind each.
    kind_a, kind_b = (first, rest[0]) if "{b}" in english and len(rest) == 1 else (kinds, "")
    return Frame(name, english, german, kind_a, kind_b, _cues(about_a), _cues(about_b))


FRAMES = tuple(_read(line) for line in TABLE.read_text(encoding="utf-8").splitlines())
