"""Show the formulas of a page, which lie with their sources in the Markdown file beside it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import streamlit as st

from viz.text.messages import _, shown, with_commas
from viz.text.metrics import METRICS
from viz.ui import terms

#: What the name of such a file ends with.
NAME: Final = "formulas.md"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as TeX, its title, which may be empty, and as Markdown on one line what to know of it."""

    title: str
    tex: str
    text: str


def formulas_in(content: str) -> Iterator[Formula]:
    """The formulas of a file's content.

    Each begins with a line `## title`, where the title may be empty; `$$` is before and after the formula.
    """
    for part in content.split("##")[1:]:
        title, _line_end, rest = part.partition("\n")
        _before, tex, text = rest.split("$$")
        yield Formula(title.strip(), tex.strip(), " ".join(text.split()))


def in_a_row(*formulas: str) -> None:
    """Formulas in TeX beside one another, or below one another where the page is too narrow for that."""
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        for tex in formulas:
            st.latex(tex, width="content")


def show(file: Path) -> None:
    """Show each formula of a page's file: its title, its TeX, and what to know of it."""
    for formula in formulas_in(file.read_text(encoding="utf-8")):
        _show(_(formula.title), formula.tex, formula.text)


def show_metrics(keys: Iterable[str]) -> None:
    """Show the formulas of these metrics, each once, with the names of all that it defines."""
    names: dict[tuple[str, str], list[str]] = {}
    for metric in map(METRICS.__getitem__, keys):
        if metric.formula:
            names.setdefault((metric.formula, metric.source), []).append(shown(metric.name))
    for (tex, source), of_formula in names.items():
        _show(with_commas(of_formula), tex, source)


def _show(title: str, tex: str, text: str) -> None:
    if title:
        st.markdown(f"**{title}**")
    st.latex(tex)
    terms.caption(_(text))
