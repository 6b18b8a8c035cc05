"""Where old addresses lead: pages and tabs that were merged still open what they meant.

A head is "L5H2" in an address, as pages name it; older ones have its layer and head, counted from 0.
"""

import re
from collections.abc import Mapping
from typing import Final

#: A parameter, and its old value → the parameters that it has now; what the address says itself goes before these.
_RENAMED: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("part", "Masks"): {"claim": "Masks"},
    ("part", "Positional encodings"): {"claim": "Positions"},
    ("learn", "Follow one token"): {"learn": "The Transformer", "depth": "layer"},
    ("transformer", "One token"): {"depth": "layer"},
    ("transformer", "Whole model"): {},
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
    ("decode", "studio", "Edit attention"): ("compare", {"lab": "Cause"}),
    ("", "view", "Where a weight comes from"): ("learn", {"learn": "The Transformer", "depth": "head"}),
}
_HEAD: Final = re.compile(r"L([1-9]\d{0,4})H([1-9]\d{0,4})")
#: Addresses that pages had.
OLD_ADDRESSES: Final = ("masks", "why")


def renamed(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of an address as fields name them: today's names for old tabs, layer and head from 0."""
    now = dict(params)
    if (head := _HEAD.fullmatch(params.get("head", ""))) is not None:
        now |= {name: str(int(number) - 1) for name, number in zip(("layer", "head"), head.groups(), strict=True)}
    for (name, value), new in _RENAMED.items():
        if params.get(name) == value:
            del now[name]
            now = {**new, **now}
    return _followed(now)


def _followed(params: Mapping[str, str]) -> dict[str, str]:
    """A token that was followed through the layers, as the picture of the Transformer has it."""
    now = dict(params)
    stack, token, stage = (now.pop(name, "") for name in ("follow", "follow_token", "stage"))
    if stack in ("encoder", "decoder"):
        now = {"site": f"{stack}.self", **now}
    if token:
        now = {"token": token, **now}
    if stage == "0":
        now = {"end": "input", **now}
    elif stage.isdecimal():
        now = {"layer": str(int(stage[:4]) - 1), "head": "0", **now}
    return now


def moved(address: str, params: Mapping[str, str]) -> tuple[str, Mapping[str, str]] | None:
    """The address of the page on which a view is found today, and what its parameters become; None for the same page.

    `address` is that of the page that is asked for.
    """
    for (old, name, value), now in _MOVED.items():
        if old == address and params.get(name, "") == value:
            return now
    return None


def with_head(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters of fields as an address has them: layer and head as one, "L5H2"."""
    if not {"layer", "head"} <= params.keys():
        return dict(params)
    head = f"L{int(params['layer']) + 1}H{int(params['head']) + 1}"
    return {name: head if name == "head" else value for name, value in params.items() if name != "layer"}
