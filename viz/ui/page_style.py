"""Lay every page out: room for its pictures, and a head that stays in sight while one scrolls."""

from pathlib import Path
from typing import Final

import streamlit as st

from viz.ui import present

_RULES: Final = Path(__file__).with_name("page_style.css").read_text(encoding="utf-8")
_PRESENTED: Final = Path(__file__).with_name("present.css").read_text(encoding="utf-8")


def page_style() -> None:
    """Send the style sheet of all pages, with the colours of the paper that `config.toml` names."""
    light, dark = (st.get_option(f"theme.{scheme}.backgroundColor") for scheme in ("light", "dark"))
    rules = f"{_RULES}\n{_PRESENTED}" if present.is_on() else _RULES
    st.html(f"<style>:root {{ --paper: light-dark({light}, {dark}); }}\n{rules}</style>")
