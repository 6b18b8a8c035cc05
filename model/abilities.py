"""What a model has and what it lacks, in a form that pages can show.

Layers and heads are numbers per site, because stacks may differ. For everything that a model lacks there is one plain
sentence that says why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

from model.errors import Message, said, said_plural

Kind = Literal["encoder", "decoder", "encoder-decoder", "image"]
SourceKind = str
"""What a model reads: "text", "picture", "sound" (`model.sources.SOURCES`)."""
PositionScheme = Literal["sinusoidal", "learned", "rotary", "ALiBi", "relative bias", "none", "unknown"]
View = Literal[
    "scores", "head outputs", "norms", "edits", "decoding", "beam", "logit lens", "positional encodings", "embeddings",
    "batch masks", "self-attention", "rollout", "output projection", "word choice", "circuits", "cost",
    "teacher forcing", "switches", "alignment links", "hyperparameters", "reasons",
]  # fmt: skip
"""What a page may want to show: scores and where a weight comes from · real head outputs to check the derived ones
against · weights times the length of the values · heads switched off or pointed elsewhere · writing step by step · beam
search · what each layer would say · the encodings as added · the embeddings before them · masks of a padded batch ·
attention within the source and within the target · weights followed through its layers · what a head's output is
multiplied by · how much more probable one word is than another, and what each head does to that · what a head would
look at and write by tokens alone · the multiply-adds of a step · a reference that the decoder is made to read · parts
removed while it writes · links of words made by hand, held against its attention · the paper's hyperparameters · why a
head looks where it looks, as a score split over what earlier layers wrote."""

NO_SWITCHES: Final = said("Parts can be removed only from Transformers that translate.")
NO_BATCH: Final = said("The masks of a padded batch are shown only for a Transformer with all three attentions.")
NO_LINKS: Final = said("Manual word alignments can be compared only with the cross-attention of a Transformer.")
NO_DOT_PRODUCT: Final = said(
    "The scores of this model are not products of queries and keys, so they are not a sum of parts."
)
NOT_AS_THE_PAPER: Final = said("Only Transformers that translate are compared with the paper's base and big models.")


@dataclass(frozen=True, kw_only=True)
class Proof:
    """How a model of the library was found to be shown, on a short probe text, when it was opened."""

    is_exact: bool  #: whether what is recorded is what the library computes; otherwise its own weights are shown
    heads: int  #: heads that were compared, of all layers and sites
    tokens: int  #: of the longest text that was read for it
    difference: float = 0.0  #: the largest, between two weights or two outputs of a head
    why: str = ""  #: why no more than weights are known, as a part of a sentence; "" where they are exact

    @property
    def verdict(self) -> Message:
        """In a few words."""
        if not self.is_exact:
            return said("weights only: {why}", why=self.why)
        heads = said_plural("{count:,} head", "{count:,} heads", self.heads)
        return said("exact (largest difference {difference:.0e} over {heads})", difference=self.difference, heads=heads)


Reason = Literal["head", "buffer", "tie", "ignorable"]
"""Why a tensor of a folder is not used: it belongs to another head · it holds what the model computes · it is equal to
one that is used · the class declares that it may be left."""


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What a model of the library was opened as, and from which tensors of its folder."""

    opened_as: str = ""  #: its class, and whether config.json names it
    used: int = 0  #: how many tensors of its folder it uses
    unused: Mapping[str, Reason] = field(default_factory=lambda: MappingProxyType({}))  #: the others
    unread: tuple[str, ...] = ()  #: parameters that its folder lacks, and that nothing shown depends on
    computed: tuple[str, ...] = ()  #: parameters that its class declares that it computes
    not_run: tuple[str, ...] = ()  #: modules, outside of stacks of layers, that what it reads here does not run


@dataclass(frozen=True, kw_only=True)
class Abilities:
    """What a model offers."""

    kind: Kind  #: which stacks it has
    reads: SourceKind = "text"  #: what it reads
    family: str  #: what kind of model it is, by its usual name, for example "BERT"
    heads: Mapping[str, tuple[int, ...]]  #: site → the number of heads of each of its layers
    generates: bool  #: whether it writes text
    knows_inputs: bool  #: whether query, key and value are known, or weights only
    positions: PositionScheme  #: how it knows where a token stands
    target_positions: PositionScheme | None = None  #: the same of its decoder, where that is known to differ
    max_length: int | None  #: tokens that it reads at most, special ones included; None if nothing limits it but memory
    max_target_length: int | None = None  #: the same for what it writes; None as well where it writes nothing
    #: what cannot be shown of it → one sentence that says why.
    lacks: Mapping[View, str] = field(default_factory=lambda: MappingProxyType({}))
    proof: Proof | None = None  #: of a model of the library, how exactly it is shown
    whole: Whole | None = None  #: of a model of the library, what it was opened as

    @property
    def sites(self) -> tuple[str, ...]:
        """The attention sites, of encoder.self, decoder.self and decoder.cross."""
        return tuple(self.heads)

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads (the most, where layers differ)."""
        return {site: (len(heads), max(heads)) for site, heads in self.heads.items()}

    def has(self, view: View) -> bool:
        """Whether this can be shown of the model."""
        return view not in self.lacks
