"""Name the three attention sites: in headings, in sentences, in narrow columns and in addresses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from viz.text.messages import _, said

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
    ENCODER: SiteNames(said("Encoder self-attention"), said("encoder self-attention"), said("encoder"), "e"),
    DECODER: SiteNames(said("Decoder self-attention"), said("decoder self-attention"), said("decoder self"), "d"),
    CROSS: SiteNames(said("Decoder cross-attention"), said("cross-attention"), said("cross"), "c"),
}
#: All sites, in the order in which pages and tables have them.
SITES: Final[tuple[Site, ...]] = (ENCODER, DECODER, CROSS)


def label(site: str) -> str:
    """A site in full, as a heading begins."""
    return _(NAMES[site].label)


def head_label(layer: int, head: int | None, site: str | None = None) -> str:
    """A head as people read it, counted from 1: "L4 H2"; with its site where several stand together: "cross L4 H2".

    Args:
        layer, head: counted from 0; None for a measure that makes the heads of a layer one: "L4, all heads".
        site: named by its short name.
    """
    name = _("L{layer}, all heads", layer=layer + 1) if head is None else f"L{layer + 1} H{head + 1}"
    return name if site is None else _("{site} {head}", site=NAMES[site].short, head=name)


def layer_labels(count: int) -> list[str]:
    """The layers of a site as rows of a map: "L1", "L2", …"""
    return [f"L{layer + 1}" for layer in range(count)]


def head_numbers(count: int) -> list[str]:
    """The heads of a layer as columns of a map: "H1", "H2", …"""
    return [f"H{head + 1}" for head in range(count)]
