"""Write numbers as people do: with a real minus sign, in percent, as powers of ten, in megabytes."""

from math import exp, inf, log
from typing import Final

from viz.text.messages import _

#: The largest difference between two float32 computations of the same thing.
TOLERANCE: Final = 1e-5

_MAGNITUDES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimal(value: float, digits: int = 2) -> str:
    """A number with so many decimals; one that rounds to zero has no sign."""
    return with_minus(f"{value:z.{digits}f}")


def signed(value: float, digits: int = 2) -> str:
    """A difference: + or − before it, unless it rounds to zero."""
    text = f"{value:+.{digits}f}"
    return with_minus(text) if text.strip("+-0.") else f"{0:.{digits}f}"


def percent(share: float) -> str:
    """A share from 0 to 1 in percent, with one decimal."""
    return f"{100 * share:.1f}%"


def times_less(log_prob: float, other: float) -> str:
    """How many times less, or more, likely a token is than another, "230 × less"; "" where it is by 5 % at most.

    Both are natural log-probabilities; "" also where one is −∞. The scripts have the same, `timesLess`.
    """
    gap = abs(log_prob - other)
    if not 0.05 < gap < inf:
        return ""
    times = exp(min(gap, log(1e6)))
    shown = _("> 1 million") if gap > log(1e6) else f"{float(f'{times:.2g}'):,.10g}"
    return _("{times} × less", times=shown) if log_prob < other else _("{times} × more", times=shown)


def byte_count(count: int) -> str:
    """How large a file is: "12 kB", "5.1 MB", "1,340 MB"."""
    if count < 950_000:
        return f"{max(1, round(count / 1_000))} kB"
    return f"{count / 1_000_000:.1f} MB" if count < 10_000_000 else f"{round(count / 1_000_000):,} MB"


def scientific(value: float) -> str:
    """A small number as a power of ten, 3·10⁻⁷."""
    if value == 0:
        return "0"
    digits, exponent = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def with_minus(text: str) -> str:
    """A number as it was formatted, with a real minus sign."""
    return text.replace("-", "−")


def amount(count: float) -> str:
    """A count with three digits: 940, 10.2 k, 5.77 M, 1.2 G."""
    for step, sign in _MAGNITUDES:
        if count >= step:
            return f"{three_digits(count / step)} {sign}"
    return f"{count:.0f}"


def three_digits(value: float) -> str:
    """A number below 1,000 with three digits: 940, 10.2, 5.77."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
