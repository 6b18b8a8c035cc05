"""Name the three attention sites: in headings, in sentences, in narrow columns and in addresses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Site = Literal["encoder.self", "decoder.self", "decoder.cross"]
ENCODER: Final = "encoder.self"
DECODER: Final = "decoder.self"
CROSS: Final = "decoder.cross"


@dataclass(frozen=True, slots=True)
class SiteNames:
    """The names of a site.

    Attributes:
        label: in full, as a heading begins.
        phrase: within a sentence.
        short: in a narrow column.
        tag: one letter, in codes of addresses.
    """

    label: str
    phrase: str
    short: str
    tag: str


NAMES: Final[Mapping[str, SiteNames]] = {
    ENCODER: SiteNames("Encoder self-attention", "encoder self-attention", "encoder", "e"),
    DECODER: SiteNames("Decoder self-attention", "decoder self-attention", "decoder self", "d"),
    CROSS: SiteNames("Decoder cross-attention", "cross-attention", "cross", "c"),
}
#: All sites, in the order in which pages and tables have them.
SITES: Final[tuple[Site, ...]] = (ENCODER, DECODER, CROSS)


def label(site: str) -> str:
    """A site in full, as a heading begins."""
    return NAMES[site].label
