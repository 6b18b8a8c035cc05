"""Everything that a person has chosen, as one frozen value: the model, what pages share, and a section for each page.

Numbers count from 0. Whether a layer exists is for the page to say (`Selection.within`). Every choice has a name of its
own across all sections, so that a widget can name the one that it shows; `FIELDS` leads from the name to the section.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Self

from viz.selection.choices import (
    AtlasChoices,
    AttentionChoices,
    Common,
    CoreferenceChoices,
    DecodingChoices,
    ExperimentsChoices,
    LearnChoices,
    ModelCardChoices,
    ModelChoice,
)
from viz.selection.fields import Field, fields_of
from viz.text.messages import Message, said
from viz.text.written import SITES


@dataclass(frozen=True, slots=True)
class Selection:
    """Everything that defines a view."""

    model: ModelChoice = field(default_factory=ModelChoice)
    common: Common = field(default_factory=Common)
    learn: LearnChoices = field(default_factory=LearnChoices)
    attention: AttentionChoices = field(default_factory=AttentionChoices)
    decoding: DecodingChoices = field(default_factory=DecodingChoices)
    coreference: CoreferenceChoices = field(default_factory=CoreferenceChoices)
    atlas: AtlasChoices = field(default_factory=AtlasChoices)
    experiments: ExperimentsChoices = field(default_factory=ExperimentsChoices)
    model_card: ModelCardChoices = field(default_factory=ModelCardChoices)

    def value(self, name: str) -> object:
        """The value of the choice with this name, in whichever section it is."""
        value: object = getattr(getattr(self, FIELDS[name].section), name)
        return value

    def changed(self, **values: object) -> Self:
        """The same selection with other values of these choices, each put into its section.

        Of those that a page may propose, these are chosen now, and with them all that are chosen together.
        """
        chosen = {FIELDS[name].chosen_in: True for name in values if FIELDS[name].chosen_in}
        sections: dict[str, dict[str, object]] = defaultdict(dict)
        for name, value in (chosen | values).items():
            sections[FIELDS[name].section][name] = value
        return replace(self, **{name: replace(getattr(self, name), **new) for name, new in sections.items()})

    def chosen(self, **values: object) -> Self:
        """As `changed`, when a person chose these: what belonged to the values before becomes its default again."""
        resets = {
            name: known.default
            for name, known in FIELDS.items()
            if not known.reset_by.isdisjoint(values) and known.reset_only in (None, self.value(name))
        }
        return self.changed(**(resets | values))

    def proposed(self, **values: object) -> Self:
        """The same selection with these values of a page for those choices that no person has made."""
        left_open = {name: value for name, value in values.items() if not self.value(FIELDS[name].chosen_in)}
        return self.changed(**left_open, **{FIELDS[name].chosen_in: False for name in left_open})

    def for_model(self, shapes: Mapping[str, tuple[int, int]]) -> Self:
        """The same selection, with an attention, layer or head that this model lacks set back to its first.

        `shapes`: attention → its layers and heads.
        """
        site = self.common.site if self.common.site in shapes else next(site for site in SITES if site in shapes)
        return replace(self, common=replace(self.common, site=site)).within(*shapes[site])

    def within(self, num_layers: int, num_heads: int) -> Self:
        """The same selection, with a layer or head that this model lacks set back to the first."""
        layer = self.common.layer if self.common.layer < num_layers else 0
        head = self.common.head if self.common.head < num_heads else 0
        return replace(self, common=replace(self.common, layer=layer, head=head))


#: Name → choice, of all sections.
FIELDS: Final[Mapping[str, Field]] = fields_of(Selection)


Section = Literal["learn", "attention", "decoding", "coreference", "atlas", "experiments", "model_card"]


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the app."""

    address: str  #: its name in addresses; "" for the page that opens first
    title: Message  #: what it is called
    tab: str  #: the field of the selection that names its open tab, or the section asked for
    has_tabs: bool = True  #: whether it has tabs; else its sections are below one another


#: Section → page, in the order of the navigation.
PAGES: Final[Mapping[Section, Page]] = {
    "learn": Page("learn", said("Learn"), "learn_tab"),
    "attention": Page("", said("Attention"), "attention_tab"),
    "decoding": Page("decode", said("Decode"), "decoding_tab"),
    "coreference": Page("compare", said("Compare"), "coreference_tab"),
    "atlas": Page("atlas", said("Atlas"), "atlas_tab"),
    "experiments": Page("experiments", said("Experiments"), "experiments_tab"),
    "model_card": Page("model", said("Model"), "model_section", has_tabs=False),
}
#: Address → section.
SECTIONS: Final[Mapping[str, Section]] = {page.address: section for section, page in PAGES.items()}
