"""Which pieces training emphasises."""

from model.tokenizer import Tokenizer
from model.training.objective import pronoun_pieces
from tests.paths import ROOT


def test_the_pieces_that_are_emphasised_are_pronouns() -> None:
    tokenizer = Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")
    pieces = set(tokenizer.tokens(sorted(pronoun_pieces(tokenizer))))
    assert {"▁er", "▁sie", "▁es", "▁ihn", "▁ihm", "▁ihr", "▁Er", "▁Sie", "▁Es"} <= pieces
    assert {piece.lower() for piece in pieces} <= {"▁er", "▁sie", "▁es", "▁ihn", "▁ihm", "▁ihr"}
