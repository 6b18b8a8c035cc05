"""Write the parts that a residual stream is a sum of, as people read them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from viz.text.messages import Message, said
from viz.text.written import CROSS, DECODER, ENCODER, NamedHead, Site

if TYPE_CHECKING:
    from model.analysis.reasons.held_run import Part

#: Kind of a part that a layer has → its name there.
_OF_LAYER: Final[Mapping[str, Message]] = {
    "self": said("self-attention L{layer}"),
    "cross": said("cross-attention L{layer}"),
    "feed_forward": said("feed-forward L{layer}"),
}
#: Kind of any other part → its name.
_ONE: Final[Mapping[str, Message]] = {
    "embedding": said("embedding"),
    "position": said("position"),
    "token_type": said("token type"),
    "beginning": said("embedding and position"),
    "bias": said("learned constants"),
    "reading": said("difference in reading"),
    "distance": said("distance between query and key"),
}


def site_of(part: "Part") -> Site | None:
    """The attention that a part belongs to; None for any other part."""
    if part.kind == "cross":
        return CROSS
    return None if part.kind != "self" else ENCODER if part.stack == "encoder" else DECODER


def part_name(part: "Part") -> Message:
    """A part within its stack, such as "cross-attention L4"; a head as a link that opens it, "L4 H2"."""
    if part.layer is None:
        return _ONE[part.kind]
    site = site_of(part)
    if part.head is not None and site is not None:
        return NamedHead(site, part.layer, part.head)
    return said(_OF_LAYER[part.kind], layer=part.layer + 1)
