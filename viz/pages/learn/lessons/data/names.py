"""Names that several views have in common, kept so that a page can say them in its language."""

from collections.abc import Mapping
from typing import Final

from viz.text.messages import Message, said
from viz.text.sites import NAMES, head_label

#: A small model, by its folder → what it lacks or has instead.
PRESETS: Final[Mapping[str, Message]] = {
    "full": said("full"),
    "single-head": said("single head"),
    "two-heads": said("two heads"),
    "sixteen-heads": said("sixteen heads"),
    "unscaled": said("unscaled"),
    "no-positions": said("no positions"),
    "learned-positions": said("learned positions"),
    "no-residual": said("no residual"),
    "post-norm": said("post norm"),
    "no-dropout": said("no dropout"),
    "no-smoothing": said("no smoothing"),
    "convolutional": said("convolutional"),
    "gru": said("gru"),
}


def head_of(site: str, layer: int, head: int) -> Message:
    """A head, counted from 0, with its site: "cross L4 H2"."""
    return said("{site} {head}", site=NAMES[site].short, head=head_label(layer, head))
