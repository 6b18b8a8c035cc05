"""Show what was measured of a head: where it stands among all heads, what it looks at, texts from weak to strong."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from jaxtyping import Float

from viz.pictures.component import Component
from viz.pictures.payload import LOCAL, Text, Token, Tokens, finite, hear

_FOLDER: Final = "pictures/head_details"
NUMBERS: Final = Component(f"{_FOLDER}/head_numbers.js", f"{_FOLDER}/head_numbers.css")
EXAMPLES: Final = Component(f"{_FOLDER}/head_examples.js", f"{_FOLDER}/head_examples.css")

#: A number, or null where there is none.
Known = Annotated[float, finite]


@dataclass(frozen=True, eq=False, slots=True)
class Strip:
    """A metric of a head on a line with that of all heads."""

    name: Text
    heads: Annotated[Float[np.ndarray, "head"], LOCAL]  #: that of all heads
    value: Known
    low: Known  #: low, high: the ends of its interval
    high: Known
    number: Text  #: the value as people read it
    rank: Text  #: which of all it is
    label: Text  #: all of it, for those who hear it

    def derived(self) -> dict[str, object]:
        """All heads, and the one in the middle."""
        return {"all": [round(float(value), 4) for value in self.heads], "middle": float(np.median(self.heads))}


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of a head's free weight."""

    name: Text  #: of what it looks at
    value: Known
    layer: Known  #: the mean of the heads of its layer
    even: Known  #: that of an even look


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares of one sort, on one scale."""

    title: Text
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class HeadNumbers:
    """The numbers of a head."""

    strips: Sequence[Strip]
    shares: Sequence[Bars]
    rest: Known  #: the share of its weight that is set aside
    favourites: Sequence[Token]  #: tokens that it prefers
    times: Sequence[Text]  #: how many times an even look each of them gets


@dataclass(frozen=True, slots=True)
class Example:
    """A row of a text, and where the head looks from there."""

    label: Text  #: which text it is, in bold
    notes: Sequence[Text]  #: its range, and how much of the corpus it stands for
    query: Sequence[Token]  #: what the row is called, alone, where that is none of the tokens; else nothing
    tokens: Tokens  #: what it looks at
    weights: Sequence[Annotated[float, finite]]  #: of each token
    row: int  #: the token that looks; -1 where it is none of them
    resting: Sequence[int]  #: the tokens on which weight is at rest
    found: Sequence[int]  #: those that were searched for


@dataclass(frozen=True, slots=True)
class HeadExamples:
    """Texts, weak to strong, under a picture of how strong all are."""

    examples: Sequence[Example]
    bins: Sequence[int]  #: how many texts have each strength, from the weakest to the strongest
    tenths: Sequence[float]  #: where the tenths meet, as parts of the range
    low: Text  #: low, high: the weakest and the strongest
    high: Text
    texts: Text  #: how many texts these are
    label: Text  #: all of it, for those who hear it


@dataclass(frozen=True, slots=True)
class Chosen:
    """The example that a person chose."""

    example: int


def head_numbers(numbers: HeadNumbers, *, key: str) -> None:
    """Show the numbers of a head."""
    NUMBERS.show(numbers, key=key)


def head_examples(examples: HeadExamples, *, key: str, on_open: Callable[[Chosen], object]) -> None:
    """Show texts; `on_open` is called before the next run with the one that a person chose."""
    EXAMPLES.show(examples, key=key, open=hear(on_open, Chosen, example=range(len(examples.examples))))
