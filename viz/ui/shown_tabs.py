"""Show some tabs alone, as a teacher's link asks: their pages stay in the navigation, everything else still opens."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

import streamlit as st

from viz.selection import state
from viz.selection.selection import FIELDS, PAGES, Page
from viz.text.messages import _

_BETWEEN_WORDS: Final = re.compile(r"[^a-z0-9]+")


@cache
def codes() -> Mapping[str, tuple[Page, str]]:
    """Name of a tab in addresses → its page and its label, in the order of the navigation."""
    return {
        f"{page.address or 'attention'}-{_BETWEEN_WORDS.sub('-', label.lower())}": (page, label)
        for page in PAGES.values()
        for label in FIELDS[page.tab].options
    }


def is_shown(field: str, label: str | None = None) -> bool:
    """Whether a page (by the field of the selection that names its open tab), or one of its tabs, is shown."""
    chosen = [codes()[code] for code in _chosen()]
    return not chosen or any(field == page.tab and label in (None, tab) for page, tab in chosen)


def _chosen() -> list[str]:
    """The tabs that are chosen and exist."""
    return [code for code in state.current().common.shown_tabs if code in codes()]


def choice() -> None:
    """The list in which a person chooses."""
    names = {code: f"{_(page.title)} › {_(label)}" for code, (page, label) in codes().items()}
    st.multiselect(
        _("Tabs shown"),
        list(names),
        format_func=names.__getitem__,
        placeholder=_("All"),
        help=_("For a class: choose the tabs, then copy this page's link. Whoever opens it sees these tabs alone."),
        **state.bound("shown_tabs", _chosen()),
    )
