"""Lay every page out: room for its pictures, and a head that stays in sight while one scrolls."""

from pathlib import Path
from typing import Final

import streamlit as st

from viz.ui import present

_RULES: Final = Path(__file__).with_name("page_style.css").read_text(encoding="utf-8")
#: Options of a theme that the style sheet needs: the page's ground, and what stands out on it.
_COLOURS: Final = ("backgroundColor", "primaryColor")
_PRESENTED: Final = Path(__file__).with_name("present.css").read_text(encoding="utf-8")


def page_style() -> None:
    """Send the style sheet of all pages, with the colours that `config.toml` names."""
    rules = f"{_RULES}\n{_PRESENTED}" if present.is_on() else _RULES
    paper, accent = ([st.get_option(f"theme.{scheme}.{name}") for scheme in ("light", "dark")] for name in _COLOURS)
    colours = f"--paper: light-dark({', '.join(paper)}); --day-accent: {accent[0]}; --night-accent: {accent[1]};"
    st.html(f"<style>:root {{ {colours} }}\n{rules}</style>")
