"""What each layer of the decoder would have said, computed once for all viewers."""

from typing import TYPE_CHECKING, Final

from viz.server.caches import cached

if TYPE_CHECKING:
    from model import Trace
    from model.decoding.logit_lens import LogitLens
    from model.writer import Writer

MAX_LENSES: Final = 32
#: The hover of a lens names so many tokens.
TOP: Final = 5


@cached(max_entries=MAX_LENSES)
def logit_lens(trace: "Trace", writer: "Writer") -> "LogitLens":
    """What each layer would have said at each step of a trace, with its five most probable tokens."""
    return writer.logit_lens(trace, TOP)
