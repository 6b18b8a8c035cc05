"""Write amounts as people read them: operations, seconds, bytes."""

from typing import Final

_STEPS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def amount(count: float) -> str:
    """A count with three digits: 940, 10.2 k, 5.77 M, 1.2 G."""
    for step, sign in _STEPS:
        if count >= step:
            return f"{_three(count / step)} {sign}"
    return f"{count:.0f}"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits: 12.3 µs, 4.56 ms, 1.20 s."""
    for step, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= step:
            return f"{_three(seconds / step)} {unit}"
    return f"{_three(seconds * 1e6)} µs"


def memory(num_bytes: float) -> str:
    """Bytes in the unit that suits: 65.5 kB, 1.07 GB."""
    return f"{amount(num_bytes)}B" if num_bytes >= 1e3 else f"{num_bytes:.0f} B"


def _three(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
