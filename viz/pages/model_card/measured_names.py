"""What the measured values of a checkpoint are called, as its `metrics.json` has them, so that they can be translated.

A name has parts, such as “best_head · layer”; one that is not known here is shown as it is.
"""

from typing import Final

from viz.text.messages import Message, _, said

#: What stands between the parts of a name.
BETWEEN: Final = " · "
_PARTS: Final[tuple[Message, ...]] = (
    said("accuracy"),
    said("aer"),
    said("babbling"),
    said("baselines"),
    said("best head"),
    said("best known"),
    said("both right"),
    said("cases"),
    said("chance"),
    said("chosen on first half"),
    said("chosen on second half"),
    said("combinations"),
    said("copied"),
    said("cross selected"),
    said("diagonal"),
    said("drawn frames"),
    said("first"),
    said("frames"),
    said("head"),
    said("head averaged"),
    said("heads"),
    said("kinds"),
    said("layer"),
    said("links"),
    said("names"),
    said("nearest"),
    said("nouns"),
    said("numbers"),
    said("pairs"),
    said("part"),
    said("predicted"),
    said("right"),
    said("rows"),
    said("sentences"),
    said("set"),
    said("skipped"),
    said("skipped because"),
    said("sure"),
    said("word in"),
    said("word out"),
    said("words"),
)
_KNOWN: Final = frozenset(_PARTS)


def shown_name(name: str) -> str:
    """A name, or a part of one, as people read it."""
    parts = (part.replace("_", " ") for part in name.split(BETWEEN))
    return BETWEEN.join(_(part) if part in _KNOWN else part for part in parts)
