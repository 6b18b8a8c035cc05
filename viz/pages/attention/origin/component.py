"""Where one row of weights comes from, drawn as seven pictures over the same keys; a click follows another key.

Sends the plain data of `story.py` to `origin_story.js` and reads back which key a person chose.
"""

from collections.abc import Callable, Mapping

from viz.components.declare import declare
from viz.core import fingerprint, payload, theme
from viz.core.widget_values import sent
from viz.pages.attention.origin.story import Origin, story

_COMPONENT = declare("pages/attention/origin/origin_story.js", "pages/attention/origin/origin_story.css")


def pack_story(origin: Origin, name: str = "origin") -> bytes:
    """The payload of `origin_story.js`: the story, its colours, and the name of the files it is saved in."""
    inks = {"dark": theme.NIGHT, "pale": theme.LIGHT}
    header = {
        **story(origin),
        "signed": {"stops": theme.DIVERGING, **inks},
        "sequential": {"stops": theme.SEQUENTIAL, **inks},
        "realColour": theme.HEAD_COLOURS[0],
        "otherColour": theme.HEAD_COLOURS[1],
    }
    followed = header.pop("followed")
    return payload.pack({**header, "followed": followed, "name": name, "digest": fingerprint.digest(repr(header))})


def read_key(value: object, keys: int) -> int | None:
    """The key that the browser sent, if there is one: it may still speak of the sentence before."""
    key = value.get("key") if isinstance(value, Mapping) else None
    return key if type(key) is int and 0 <= key < keys else None


def origin_story(origin: Origin, *, on_follow: Callable[[int], None], key: str, name: str = "origin") -> None:
    """Show the story, saved in files called `name`; `on_follow` is called with the key that a person clicks."""

    def take() -> None:
        chosen = read_key(sent(key, "follow"), len(origin.key_tokens))
        if chosen is not None:
            on_follow(chosen)

    _COMPONENT(data=pack_story(origin, name), key=key, on_follow_change=take)
