"""Where old addresses lead: pages and tabs that were merged still open what they meant."""

from collections.abc import Mapping
from typing import Final

#: A parameter, and its old value → the parameters that it has now; what the address says itself goes before these.
_RENAMED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("part", "Masks"): {"claim": "Masks"},
    ("part", "Positional encodings"): {"claim": "Positions"},
    ("learn", "Follow one token"): {"learn": "The Transformer", "transformer": "One token"},
    ("view", "Take it with you"): {},
    ("studio", "Take it with you"): {},
    ("studio", "Branches"): {},
    ("studio", "Beam search"): {"search": "Beam search"},
    ("studio", "Sampling"): {"search": "Sampling"},
    ("studio", "Logit lens"): {"studio": "Inside"},
    ("studio", "Attribution"): {"studio": "Inside", "inside": "Attribution"},
    ("about", "Architecture"): {"about": "Overview"},
    ("about", "Vocabulary"): {"about": "Overview"},
    ("about", "Training data"): {"about": "Data and training"},
    ("about", "Curves"): {"about": "Data and training"},
    ("about", "Translations"): {"about": "Scores"},
    ("atlas", "Layer × head"): {"atlas": "Maps"},
}

#: The old address of a page, a parameter there and its value ("" where it is absent) → the address of the page, and
#: the parameters that it has now.
_MOVED: Final[Mapping[tuple[str, str, str], tuple[str, Mapping[str, str]]]] = {
    ("masks", "part", ""): ("paper", {"claim": "Masks"}),
    ("masks", "part", "Masks"): ("paper", {"claim": "Masks"}),
    ("masks", "part", "Positional encodings"): ("paper", {"claim": "Positions"}),
    ("why", "", ""): ("paper", {}),
}
#: Addresses that pages had.
OLD_ADDRESSES: Final = ("masks", "why")


def renamed(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address, with today's names for old tabs."""
    now = dict(params)
    for (name, value), new in _RENAMED.items():
        if params.get(name) == value:
            del now[name]
            now = {**new, **now}
    return now


def moved(address: str, params: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """The address of the page on which a view is found today, and what its parameters become; None for the same page.

    Args:
        address: of the page that is asked for.
        params: its parameters.
    """
    for (old, name, value), now in _MOVED.items():
        if old == address and params.get(name, "") == value:
            return now
    return None
