"""The one list of pages: each by its folder of `viz/pages`, which is also its section of the selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from viz.text.messages import Message, said

Section = Literal["learn", "attention", "decoding", "coreference", "atlas", "paper", "model_card"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the app."""

    address: str  #: its name in addresses; "" for the page that opens first
    title: Message  #: what it is called
    tab: str  #: the field of the selection that names its open tab


#: Section → page, in the order of the navigation.
PAGES: Final[Mapping[Section, Page]] = {
    "learn": Page("learn", said("Learn"), "learn_tab"),
    "attention": Page("", said("Attention"), "attention_tab"),
    "decoding": Page("decode", said("Decode"), "decoding_tab"),
    "coreference": Page("compare", said("Compare"), "coreference_tab"),
    "atlas": Page("atlas", said("Atlas"), "atlas_tab"),
    "paper": Page("paper", said("The paper"), "paper_tab"),
    "model_card": Page("model", said("Model"), "model_card_tab"),
}
#: Address → section.
SECTIONS: Final[Mapping[str, Section]] = {page.address: section for section, page in PAGES.items()}
