"""How a change between two sentences comes about, in numbers: where it was read, and what exchanging that does.

Of an encoder–decoder's cross-attention: what the attention below it read at a pronoun, how much of that had been read
there at the words that differ, and what becomes of score and word where the decoder is given the twin's memory at some
positions only.
"""

from dataclasses import dataclass
from math import nan
from typing import Final, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.reasons.score import Reason, Step, align
from model.analysis.reasons.without import Asked, as_it_is, outcomes
from model.word_choice import Chooser

EXCHANGED: Final = ("pronoun", "changed", "pronoun and changed", "keys")
"""Words whose memory comes from the twin: the pronoun, the words that differ, both, and those of key and rival."""
MEASURES: Final = ("predicted", "score", "word")
"""What an exchange does, as a share of the whole change: of the score, as the shares of its parts have it; of the score
and of the log-odds of the two words, as a run has it."""

#: Of `Mechanism.numbers`: what was read at the pronoun and carried, log-odds, exchanges.
SIZES: Final = (3, 2 + len(EXCHANGED), len(EXCHANGED) * len(MEASURES))


class Words(NamedTuple):
    """Positions in the source; none of what there is not."""

    pronoun: tuple[int, ...]
    changed: tuple[int, ...]
    keys: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Mechanism:
    """The numbers of one pair; NaN where a word is not there."""

    at_pronoun: float  #: what the largest attention below the query read at the pronoun, as a share of the change
    #: carried, carried_on: of this, what the encoder's self-attention had read there at the words that differ: as it
    #: wrote it, and with what feed-forward networks made of it.
    carried: float
    carried_on: float
    #: log-odds of the two words, nats: in the text, with the twin's whole memory, with it at the words of an exchange.
    odds: Float[Tensor, "end_or_exchange"]
    exchanged: Float[Tensor, "exchange measure"]
    positions: Float[Tensor, "position 2"]  #: each position alone: shares of the score, as predicted and as measured

    @property
    def numbers(self) -> Float[Tensor, "number"]:
        """All but the positions, one after the other; `SIZES` tells how many of each."""
        carried = torch.tensor([self.at_pronoun, self.carried, self.carried_on])
        return torch.cat((carried, self.odds, self.exchanged.flatten()))


def mechanism(reader: Chooser, reason: Reason, words: Words) -> Mechanism | None:
    """The numbers of a change that is explained; None of other attentions, and where a position has no partner."""
    below = [part for part in reason.query.shares() if part.kind == "cross"]
    here, *there = (term.run.trace for term in reason.query.terms)
    partners = align(here, there[0])["encoder"] if there else ()
    if not below or not partners or min(partners) < 0 or "word choice" in reader.abilities.lacks:
        return None
    reading, every = reason.query.follow(below[0]), tuple(range(len(partners)))
    both = (*words.pronoun, *words.changed) if words.pronoun and words.changed else ()
    asked = [every, words.pronoun, words.changed, both, words.keys, *((position,) for position in every)]
    tests = outcomes(reader, reason, [Asked(reading, what) for what in asked if what], most_written=1)
    # Score by its shares, score by a run, log-odds by a run: with the twin's memory at the words that are asked.
    found = torch.full((len(asked), 3), nan)
    for number, test in zip([number for number, what in enumerate(asked) if what], tests, strict=True):
        assert test.by_run.log_odds is not None
        found[number] = torch.tensor([test.predicted, test.by_run.score, test.by_run.log_odds])
    before = as_it_is(reader, reason, most_written=1).log_odds
    assert before is not None
    begin, end = torch.tensor([reason.here, reason.here, before]), found[0, [1, 1, 2]]
    shares, groups = (begin - found) / (begin - end), slice(1, 1 + len(EXCHANGED))
    at_pronoun, carried, carried_on = _read_at(reading, words, partners) if both else (nan, nan, nan)
    return Mechanism(
        at_pronoun=at_pronoun / reason.total,
        carried=carried / at_pronoun,
        carried_on=carried_on / at_pronoun,
        odds=torch.cat((begin[2:], found[: groups.stop, 2])),
        exchanged=shares[groups],
        positions=shares[groups.stop :, :2],
    )


def _read_at(reading: Step, words: Words, partners: tuple[int, ...]) -> tuple[float, float, float]:
    """What was read at the pronoun; and of it, what self-attention had read there at the words that differ, twice."""
    position = words.pronoun[-1]
    there = reading.at(position, partners[position])
    changed = words.changed, tuple(partners[place] for place in words.changed)

    def carried(through: bool) -> float:
        of_parts = (there.follow(part, through_networks=through) for part in there.shares() if part.kind == "self")
        of_texts = (zip(step.words(), changed, strict=True) for step in of_parts)
        return sum(read.get(place, 0.0) for texts in of_texts for read, places in texts for place in places)

    return there.total, carried(False), carried(True)
