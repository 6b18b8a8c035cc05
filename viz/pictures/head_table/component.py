"""Show numbers of heads as a table: a title sorts it, a head is a link, a row that is pointed at marks its head."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from jaxtyping import Float

from viz.pictures.component import Component, ignore
from viz.pictures.payload import CHOSEN, LOCAL, Text, hear
from viz.text.written import NamedHead, decimal

COMPONENT: Final = Component("pictures/head_table/head_table.js", "pictures/head_table/head_table.css")


@dataclass(frozen=True, eq=False, slots=True)
class HeadColumn:
    """One number of each head."""

    title: Text  #: what it is called
    values: Annotated[Float[np.ndarray, "head"], LOCAL]  #: NaN where a head has none
    decimals: Annotated[int, LOCAL] = 3  #: so many are shown
    unit: Text = ""  #: said with the title; "" for none

    def derived(self) -> dict[str, object]:
        """The numbers, to sort by, and as people read them."""
        numbers = [None if np.isnan(value) else float(value) for value in self.values]
        return {
            "numbers": numbers,
            "texts": ["–" if number is None else decimal(number, self.decimals) for number in numbers],
        }


@dataclass(frozen=True, eq=False, slots=True)
class HeadTable:
    """A row for each head."""

    heads: Sequence[Text]  #: their names, each a link if it knows which head it is
    columns: Sequence[HeadColumn]  #: the numbers
    label: Text  #: what the table shows, for those who hear it
    selected: Annotated[int | None, CHOSEN] = None  #: the row that is marked; None where rows cannot be chosen

    def __post_init__(self) -> None:
        assert all(len(column.values) == len(self.heads) for column in self.columns), "one number for each head"

    def derived(self) -> dict[str, object]:
        """Where the heads' links lead; "" for a name without one."""
        return {"addresses": [head.address if isinstance(head, NamedHead) else "" for head in self.heads]}


def head_table(table: HeadTable, *, key: str, on_row: Callable[[int], object] = ignore) -> None:
    """Show the table; `on_row` is called before the next run, with the row that a person has chosen, from 0."""
    COMPONENT.show(table, key=key, row=hear(on_row, int, row=range(len(table.heads))))
