"""Explore: what a person can try below a step of a lesson, with the chosen model and their own sentence.

A step's file names a topic, `explore = "positions"`. The module of that name in this folder draws it (`show`) and says
its Python (`python`); it is imported when a person unfolds the part. Where each topic is at home, and so where old
addresses and links lead: `EXPLORED` in `viz/selection/url.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from viz.text.messages import Message, said


@dataclass(frozen=True, slots=True)
class Topic:
    """What can be explored."""

    label: Message  #: what it is called
    #: whether it shows what the chosen model does with the text: `show` and `python` are then given the trace.
    is_of_text: bool = True


#: Name in the files of lessons, and of the module → topic.
TOPICS: Final[Mapping[str, Topic]] = {
    "pooling": Topic(said("Pooling"), is_of_text=False),
    "scores": Topic(said("Attention scores")),
    "masks": Topic(said("Masks")),
    "positions": Topic(said("Positions")),
    "table_one": Topic(said("Table 1"), is_of_text=False),
    "forcing": Topic(said("Teacher forcing")),
    "smoothing": Topic(said("Label smoothing")),
    "schedule": Topic(said("Learning rate schedule"), is_of_text=False),
    "cost": Topic(said("Cost")),
}
