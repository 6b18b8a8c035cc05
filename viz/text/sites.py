"""Name the three attention sites and their heads: in headings, sentences, narrow columns, addresses and saved files."""

import re
import unicodedata
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
    """The names of a site."""

    label: str  #: in full, as a heading begins
    phrase: str  #: within a sentence
    short: str  #: in a narrow column
    tag: str  #: one letter, in codes of addresses


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

    Given from 0; None for a measure that makes the heads of a layer one: "L4, all heads".
    """
    name = _("L{layer}, all heads", layer=layer + 1) if head is None else f"L{layer + 1} H{head + 1}"
    return name if site is None else _("{site} {head}", site=NAMES[site].short, head=name)


def layer_labels(count: int) -> list[str]:
    """The layers of a site as rows of a map: "L1", "L2", …"""
    return [f"L{layer + 1}" for layer in range(count)]


def head_numbers(count: int) -> list[str]:
    """The heads of a layer as columns of a map: "H1", "H2", …"""
    return [f"H{head + 1}" for head in range(count)]


#: So many words of the sentence, and so many characters in all, tell files apart.
_MAX_WORDS: Final = 5
_MAX_LENGTH: Final = 90


def file_name(*parts: str, sentence: str = "") -> str:
    """A name without its ending: the parts, then the sentence's first words; lower-case ASCII letters, digits, hyphens.

    It begins with "headlight", so no system takes it for a device, an option or a hidden file. What is written in
    another script falls away, and with it nothing that the other parts do not say.
    """
    words = re.findall(r"[a-z0-9]+", _ascii(sentence))[:_MAX_WORDS]
    described = [word for part in parts for word in re.findall(r"[a-z0-9]+", _ascii(part))]
    return "-".join(["headlight", *described, *words])[:_MAX_LENGTH].rstrip("-")


def head_name(site: str, layer: int, head: int) -> str:
    """A head as file names and addresses have it: "decoder.cross L1H3"."""
    return f"{site} L{layer + 1}H{head + 1}"


def _ascii(text: str) -> str:
    """Without accents: "Straße, für" becomes "strasse, fur"."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("'", ""))
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()
