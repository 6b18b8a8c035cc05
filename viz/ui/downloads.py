"""Offer files and links to take along."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePath
from typing import Final, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from viz.access import models
from viz.selection import url
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import Selection
from viz.text.messages import _, language, said, shown, speaking
from viz.text.written import byte_count

_MIMES: Final = {".csv": "text/csv", ".html": "text/html", ".json": "application/json"}
_TOO_LONG: Final = said("The sentence is too long for the URL and is not part of it: send it separately.")
_OWN_PICTURE: Final = said("Your picture is not part of the URL: send it separately.")


class Offer(NamedTuple):
    """A file: what the button says, what is in it, how it is made, its name and about its size in bytes."""

    label: str
    inside: str
    make: Callable[[], bytes]
    name: str
    size: int


def show_offers(offers: Iterable[Offer]) -> None:
    """The buttons of several files, next to one another."""
    with st.container(horizontal=True, gap="small"):
        for offer in offers:
            show_offer(*offer)


def show_offer(label: str, inside: str, make: Callable[[], bytes], name: str, size: int) -> None:
    """The button of an `Offer`; nothing is made before it is pressed."""
    st.download_button(
        _("{label} ({size})", label=shown(label), size=byte_count(size)),
        # Who makes it, once the button is pressed, is no page run.
        partial(_made_in, language(), make),
        name,
        _MIMES.get(PurePath(name).suffix, "application/octet-stream"),
        key=f"take-{name}",
        icon=":material/download:",
        help=inside,
        on_click="ignore",
        wrap=True,
    )


def _made_in(code: str, make: Callable[[], bytes]) -> bytes:
    """A file in the language of the page that offers it."""
    with speaking(code):
        return make()


def link(selection: Selection) -> str:
    """A selection as the query of an address."""
    always = link_needs(selection)[0]
    return urlencode(always | url.to_params(selection.changed(checkpoint=always["checkpoint"], story=0)))


def link_needs(selection: Selection) -> tuple[dict[str, str], str]:
    """The parameters that a link has even with their usual values, for others may be usual elsewhere; what it lacks."""
    always = {"checkpoint": models.name_of(selection.model)}
    if selection.common.picture_digest and models.kind(selection.model) == "image":
        return always, _OWN_PICTURE
    if len(selection.common.text) > MAX_TEXT_IN_URL:
        return always, _TOO_LONG
    return always | {"text": selection.common.text}, ""
