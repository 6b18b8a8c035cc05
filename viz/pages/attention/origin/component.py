"""Where one row of weights comes from, drawn as seven pictures over the same keys; a click follows another key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from viz.pages.attention.origin.story import Origin, story
from viz.pictures.component import Component
from viz.pictures.payload import CHOSEN, FLAT, hear
from viz.theme import DIVERGING_INKS, HEAD_COLOURS, SEQUENTIAL_INKS, Inks

_COMPONENT: Final = Component("pages/attention/origin/origin_story.js", "pages/attention/origin/origin_story.css")


@dataclass(frozen=True, eq=False, slots=True)
class OriginPicture:
    """The story, its colours, the key that is followed, and the name of the files it is saved in."""

    story: Annotated[Mapping[str, object], FLAT]
    followed: Annotated[int, CHOSEN]
    name: Annotated[str, CHOSEN]
    signed: Inks = DIVERGING_INKS
    sequential: Inks = SEQUENTIAL_INKS
    real_colour: str = HEAD_COLOURS[0]
    other_colour: str = HEAD_COLOURS[1]


def origin_story(origin: Origin, *, on_follow: Callable[[int], object], key: str, name: str = "origin") -> None:
    """Show the story, saved in files called `name`; `on_follow` is called with the key that a person clicks."""
    told = story(origin)
    picture = OriginPicture(told, told.pop("followed"), name)
    _COMPONENT.show(picture, key=key, follow=hear(on_follow, int, key=range(len(origin.key_tokens))))
