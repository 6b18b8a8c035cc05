"""What the checkpoint that ships computes, for tests of pages that must say the same."""

from functools import cache

from model import Translator
from model.analysis.coreference.pronoun_rows import PronounLink, pronoun_link
from model.analysis.metrics.head_metrics import HeadName
from tests.paths import ROOT

FOLDER = ROOT / "checkpoints" / "en-de"
#: The head that the card says was taught.
TAUGHT = HeadName("encoder.self", 4, 7)
TIRED, WIDE = (f"The animal didn't cross the street because it was too {word}." for word in ("tired", "wide"))


@cache
def link_of(text: str = TIRED) -> PronounLink:
    """The head of all that were found that links “it” to one of the two nouns by the largest weight."""
    translator = Translator.load(FOLDER, device="cpu")
    nouns = [(text.index(word), text.index(word) + len(word)) for word in ("animal", "street")]
    pronoun = text.index("it was"), text.index("it was") + 2
    link = pronoun_link(translator, translator.trace(text), pronoun, nouns, taught=TAUGHT)
    assert link is not None
    return link
