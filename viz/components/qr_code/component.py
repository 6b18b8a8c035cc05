"""Draw the address that the browser shows as a QR code, for those who sit before a projector."""

from functools import lru_cache

from viz.components.declare import declare
from viz.core import payload
from viz.core.widget_values import sent

_COMPONENT = declare("components/qr_code/qr_code.js", "components/qr_code/qr_code.css")
#: Of a longer address the modules would be too small to be read from a screen.
MAX_LENGTH = 500


@lru_cache(maxsize=64)
def modules(address: str) -> tuple[str, ...]:
    """The code of an address, a text of 0 and 1 a row, without its margin; nothing if it would be too fine to read."""
    if not 0 < len(address) <= MAX_LENGTH:
        return ()
    # Needed by who presents only.
    import segno

    code = segno.make(address, micro=False, error="l")
    return tuple("".join(map(str, row)) for row in code.matrix)


def qr_code(*, key: str) -> None:
    """The code of the browser's own address, which the browser tells whenever it has changed."""
    told = sent(key, "address")
    address = told if isinstance(told, str) else ""
    _COMPONENT(
        data=payload.pack({"address": address, "modules": modules(address)}),
        key=key,
        width="content",
        on_address_change=_nothing,
    )


def _nothing() -> None:
    """Streamlit keeps a state only if a callback is registered for it."""
