"""Write a trace as a file to take along."""

from io import BytesIO
from typing import TYPE_CHECKING, Final

from model import later

if TYPE_CHECKING:
    from model import Trace

#: Weights of all heads that a file may hold.
MAX_WEIGHT_BYTES: Final = 256 * 1024**2


def content(trace: "Trace") -> bytes:
    """A trace as `python -m model trace` writes it, with all its weights unless they are too many to hold."""
    file = BytesIO()
    later.trace_file.write_trace(trace, file, later.trace_file.weight_arrays(trace) if has_weights(trace) else None)
    return file.getvalue()


def has_weights(trace: "Trace") -> bool:
    """Whether `content` holds the weights; queries, keys and values, from which they follow, it always holds."""
    return later.trace_file.weight_bytes(trace) <= MAX_WEIGHT_BYTES


def size(trace: "Trace") -> int:
    """About how many bytes `content` will return."""
    return later.trace_file.expected_bytes(trace) + (later.trace_file.weight_bytes(trace) if has_weights(trace) else 0)
