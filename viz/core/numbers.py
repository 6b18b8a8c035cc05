"""Numbers as people write them."""

from typing import Final

#: The largest difference between two float32 computations of the same thing.
TOLERANCE: Final = 1e-5


def scientific(value: float) -> str:
    """A small number as people write it, 3·10⁻⁷."""
    if value == 0:
        return "0"
    digits, exponent = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
