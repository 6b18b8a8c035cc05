"""What a person is told above the page: of all that an address asks for, what does not exist here, and other news.

A notice stays in sight, whatever runs of the page follow, until the person chooses something else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Final

import streamlit as st

from viz.selection import url
from viz.selection.selection import FIELDS, Selection
from viz.text.messages import _, said, shown
from viz.text.written import head_label

_KEPT: Final = "selection/notices"
#: Characters of a value that are quoted.
_QUOTED: Final = 60
#: Names of parameters that are quoted.
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class _Replaced:
    """A part of the address that does not exist here."""

    asked: str  #: as the address has it
    name: str = field(compare=False)  #: the field, which by now has another value

    def sentence(self, selection: Selection) -> str:
        """What was asked, and what the page shows instead."""
        common, value = selection.common, selection.value(self.name)
        if self.name in ("layer", "head"):
            now = head_label(common.layer, common.head)
        elif value in (None, "", (), FIELDS[self.name].default):
            message = "The URL has “{asked}”, which does not exist here; the page's default is shown instead."
            return _(message, asked=self.asked)
        else:
            now = url.written(value)
        message = "The URL has “{asked}”, which does not exist here; “{now}” is shown instead."
        return _(message, asked=self.asked, now=_cut(now))


@dataclass(slots=True)
class _Notices:
    """Those of a session, in one object: Streamlit may end a run at any use of `st.session_state`."""

    #: of the page with this name, field → its value, and the address's text.
    asked: Mapping[str, tuple[object, str]] = field(default_factory=dict)
    page: object = None
    #: what is told → what was chosen at the end of the run that told it; None before that.
    told: dict[str | _Replaced, Mapping[str, object] | None] = field(default_factory=dict)


def _all() -> _Notices:
    kept: _Notices = st.session_state.setdefault(_KEPT, _Notices())
    return kept


def tell(*sentences: str | _Replaced) -> None:
    """Tell a person something above the page: what `said` made, in the language of the run that shows it."""
    # What a page corrects is no choice: what was told before stays.
    if sentences:
        _all().told = dict.fromkeys((*_all().told, *sentences))


def answer(sentence: str) -> None:
    """Tell what came of what a person just did, as `tell`; what was told before is over."""
    _all().told = {sentence: None}


def asked(params: Mapping[str, str], selection: Selection) -> None:
    """Note what a new address asks for, of which `selection` is what could be read; what was told before is over."""
    kept, unknown = _all(), dict.fromkeys(url.unknown(params))
    known = {name: value for name, value in params.items() if name not in unknown}
    now, texts = url.renamed(known), _as_asked(known)
    kept.page, kept.told = None, {}
    kept.asked = {name: (selection.value(name), texts[FIELDS[name].param]) for name in url.choices(now)}
    tell(*(_Replaced(texts[FIELDS[name].param], name) for name in url.unreadable(now)))
    if strange := [param for param in unknown if not url.is_foreign(param)]:
        tell(_ignored(strange))


def replace(names: Iterable[str], selection: Selection) -> None:
    """Tell that values which the address asked for, and which still hold, do not exist."""
    tell(*(_Replaced(_all().asked[name][1], name) for name in names if is_asked(name, selection)))


def is_asked(name: str, selection: Selection) -> bool:
    """Whether the address of this page asked for the value that a choice has."""
    asked = _all().asked.get(name)
    return asked is not None and asked[0] == selection.value(name)


def settle(*names: str) -> None:
    """What the address asked for of these is there, or told: what comes later is no longer its doing."""
    _all().asked = {name: asked for name, asked in _all().asked.items() if name not in names}


def begin(chosen: Mapping[str, object]) -> None:
    """Drop, at the beginning of a run, what was told before a person chose something else."""
    kept = _all()
    kept.told = {told: how for told, how in kept.told.items() if how is None or how == chosen}
    if kept.page not in (None, chosen[""]):
        kept.asked = {}
    kept.page = chosen[""]


def end(chosen: Mapping[str, object]) -> None:
    """Note, at the end of a run, what was chosen when all this was told."""
    kept = _all()
    kept.told = {told: chosen if how is None else how for told, how in kept.told.items()}


def are_others(chosen: Mapping[str, object]) -> bool:
    """Whether a run would begin or end to tell something, when this is chosen."""
    return any(how != chosen for how in _all().told.values())


def sentences(selection: Selection) -> list[str]:
    """All that is told, in the language of this run."""
    return [told.sentence(selection) if isinstance(told, _Replaced) else shown(told) for told in _all().told]


def _ignored(strange: Sequence[str]) -> str:
    """That parameters are ignored: by their names alone, for what they say may be a secret."""
    quoted = (f"“{_cut(param)}”" for param in strange[:_NAMED])
    names = reduce(lambda before, last: said("{before}, {last}", before=before, last=last), quoted)
    if len(strange) <= _NAMED:
        return said("Headlight ignores what it does not know in the URL: {names}.", names=names)
    message = "Headlight ignores what it does not know in the URL: {names}, and {count:,} more."
    return said(message, names=names, count=len(strange) - _NAMED)


def _as_asked(params: Mapping[str, str]) -> dict[str, str]:
    """Today's parameter → the part of an address that asks for it, maybe by a name that it had, as people find it."""
    now = url.renamed(params)
    parts = {param: param for param in now}
    # The first part counts.
    for part in reversed([*params]):
        others = url.renamed({key: params[key] for key in params if key != part})
        parts |= {param: part for param in now if others.get(param) != now[param]}
    return {param: _cut(f"{part}={params.get(part, now[param])}") for param, part in parts.items()}


def _cut(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]} …"
