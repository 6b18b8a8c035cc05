"""What each layer would have said at each step, as a table of tokens coloured by their probability."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Self

from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, Tokens, hear, rounded
from viz.text.messages import _
from viz.theme import SEQUENTIAL_INKS, Inks

if TYPE_CHECKING:
    from model.decoding.logit_lens import LogitLens

_COMPONENT: Final = Component("pages/decoding/logit_lens/lens_table.js", "pages/decoding/logit_lens/lens_table.css")
#: A probability, shown with three digits at most.
_Probability = Annotated[float, rounded(6)]


def level_names(count: int) -> list[str]:
    """What the levels of a lens are called; the last of them is the model's own output."""
    between = (_("Layer {number}", number=level) for level in range(1, count - 1))
    return [_("Input"), *between, _("Layer {number} = output", number=count - 1)]


@dataclass(frozen=True, slots=True)
class LensCell:
    """A level at a step: its likeliest tokens, whether the likeliest was written, and the rank of the one that was."""

    tokens: Tokens
    probabilities: Sequence[_Probability]
    as_written: bool
    chosen: _Probability
    rank: int


@dataclass(frozen=True, eq=False, slots=True)
class LensTable:
    """The table: `read` goes in at each step, `step` is chosen, `name` is that of saved files."""

    levels: Sequence[str]
    read: Tokens
    written: Tokens
    cells: Sequence[Sequence[LensCell]]
    step: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    scale: Inks = SEQUENTIAL_INKS

    @classmethod
    def of(cls, lens: "LogitLens", read: Sequence[str], *, step: int, name: str) -> Self:
        """The table of a lens."""
        cells = [_level(lens, level) for level in range(len(lens.tokens))]
        return cls(level_names(len(cells)), read, lens.chosen_tokens, cells, step, name)


def _level(lens: "LogitLens", level: int) -> list[LensCell]:
    rows = zip(
        lens.tokens[level],
        lens.probabilities[level].tolist(),
        lens.token_ids[level, :, 0].tolist(),
        lens.chosen_ids,
        lens.chosen_probabilities[level].tolist(),
        lens.chosen_ranks[level].tolist(),
        strict=True,
    )
    return [
        LensCell(tokens, probabilities, best == written, chosen, rank)
        for tokens, probabilities, best, written, chosen, rank in rows
    ]


def lens_table(table: LensTable, *, on_choose: Callable[[int], object], key: str) -> None:
    """Show the table; `on_choose` is called before the next run with the step that a person chose."""
    _COMPONENT.show(table, key=key, step=hear(on_choose, int, step=range(len(table.read))))
