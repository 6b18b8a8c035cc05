"""Between which two tokens a model chooses, and where in what it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final, Protocol, runtime_checkable

from jaxtyping import Float
from torch import Tensor

from model.errors import InputTextError
from model.nn.edit_hooks import Edits
from model.nn.encoder_decoder import site_path
from model.nn.hooks import Edit
from model.reader import Reader
from model.trace.trace import TokenInputs, Trace

OutputsEdit = Callable[[str, int, Float[Tensor, "batch head row d_v"]], Float[Tensor, "batch head row d_v"]]
"""Site, layer and what its heads put out → what they put out instead, before W_O."""
ReadsOn = Callable[[Sequence[int]], Float[Tensor, "vocab"]]
"""Further token ids of a target → the logits of what follows, float32; what was read before is kept."""
#: How a person writes a masked word, whatever the model's own sign is.
MASK: Final = "[MASK]"
NO_EDITS: Final[Mapping[str, Edit]] = MappingProxyType({})
SiteAndLayer = tuple[str, int]


@dataclass(frozen=True)
class TokenPlace:
    """Where a model predicts a token."""

    source: tuple[int, ...]  #: token ids that the encoder reads; none of a decoder alone
    target: tuple[int, ...]  #: token ids that the decoder reads; none of an encoder alone
    row: int  #: the row that says the token: of a decoder the last, of an encoder the one of the masked word
    token_inputs: TokenInputs = ()  #: what an encoder alone reads of each token beside its id

    @property
    def length(self) -> int:
        """Tokens that are read."""
        return len(self.source) + len(self.target)


@dataclass(frozen=True)
class WordChoice:
    """A place, and two tokens one of which may be said there."""

    place: TokenPlace
    right: int
    wrong: int

    @property
    def places(self) -> tuple[TokenPlace, ...]:
        """What is read to compare both: one place."""
        return (self.place,)

    @property
    def turned(self) -> "WordChoice":
        """The other one as the right one."""
        return WordChoice(self.place, self.wrong, self.right)


@dataclass(frozen=True)
class TextChoice:
    """Two whole texts one of which an encoder–decoder may write."""

    source: tuple[int, ...]  #: token ids that the encoder reads
    begin: tuple[int, ...]  #: the tokens that the decoder reads first
    #: right, wrong: token ids of both texts, with the one that ends them.
    right: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def places(self) -> tuple[TokenPlace, ...]:
        """What is read to compare both: the right text along with the source, and the wrong one."""
        both = (self.right, self.wrong)
        return tuple(
            TokenPlace(self.source, (*self.begin, *text[:-1]), len(self.begin) + len(text) - 2) for text in both
        )

    @property
    def differs_at(self) -> int:
        """The first position at which both texts differ; 0 where they are the same."""
        both = zip(self.right, self.wrong, strict=False)
        return next((position for position, (a, b) in enumerate(both) if a != b), 0)


Choice = WordChoice | TextChoice
"""What a model chooses between: the log-odds are log p(right) − log p(wrong), in nats."""


def tokens_read(choice: Choice) -> int:
    """How many tokens are read to compare both, padded to the longer text."""
    places = choice.places
    return len(places[0].source) + len(places) * max(len(place.target) for place in places)


@runtime_checkable
class Chooser(Reader, Protocol):
    """A `Reader` that says tokens, or labels, unless its abilities lack "word choice"."""

    pads: bool  #: whether it reads several choices side by side, padded; else one at a time

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""

    def labels(self, text: str) -> tuple[str, ...]:
        """What a classifier may say about a text, in the order of the ids; none of a model that predicts words.

        Raises an InputTextError if the text is blank or too long.
        """

    def asked(self, text: str) -> str:
        """A text as it is where a word is asked for: of an encoder with its last word masked, unless one is.

        Raises an InputTextError if there is no word to mask.
        """

    def place(self, text: str) -> TokenPlace:
        """Where it says a token for this text: of an encoder in place of [MASK], else the first that it writes; of a
        classifier where it predicts a label.

        Raises an InputTextError if the text is blank or too long, or an encoder's has not one [MASK].
        """

    def word_choice(self, text: str, right: str, wrong: str) -> WordChoice:
        """The first token in which two texts differ that a model may write: in place of [MASK], after the text of a
        decoder, or as the translation.

        Raises an InputTextError if a text is blank or too long; both are the same to the model; or a word for [MASK] is
        more than one token.
        """

    def place_logits(
        self, place: TokenPlace, copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy vocab"]:
        """The logits of a place, float32, for so many copies side by side; edits: full hook name → function.

        Raises an EditError if only the weights of the model are known, so that no attention can be edited; a TraceError
        if the embeddings are edited and not found; and a ValueError if there is no such hook.
        """

    def reads_on(self, source: Sequence[int]) -> ReadsOn:
        """Read a source (none of a decoder alone), and then the target bit by bit, of a model that writes.

        What is edited must be edited while it reads it: the source here, rows of the target when they are given.
        """

    def trace_place(self, place: TokenPlace, token: int, edits: Edits | None = None) -> Trace:
        """A trace of what is read at a place where this token is said; with edits of heads, for this run alone."""

    def log_odds(
        self, choices: Sequence[Choice], copies: int = 1, edits: Mapping[str, Edit] = NO_EDITS
    ) -> Float[Tensor, "copy choice"]:
        """How much likelier the right token or text of each choice is than the wrong one, in nats, float32.

        Args:
            choices: of this model, all of words or all of texts; one, unless the model `pads`. Only encoder–decoders
                read texts.
            copies: as many of all that is read are read side by side, one copy of everything after the other.
            edits: as of `place_logits`. A batch holds every copy of every choice; in the decoder, all right texts of a
                copy come before all wrong ones. An encoder without edits reads everything but once.
        """


def embedding_hook(stack: str) -> str:
    """The hook of the (scaled) embeddings of what a stack reads, before positions are added to them."""
    return f"{stack}.embedding.hook_embedding"


def output_hook(site: str, layer: int) -> str:
    """The hook of what the heads of a layer put out."""
    return f"{site_path(site, layer)}.hook_head_output"


def output_edits(reader: Reader, outputs: OutputsEdit) -> dict[str, Edit]:
    """Full hook name → what is done to the heads' outputs of every site and layer."""
    attentions = [(site, layer) for site, heads in reader.abilities.heads.items() for layer in range(len(heads))]
    return {output_hook(*at): partial(outputs, *at) for at in attentions}


def first_difference(right: Sequence[int], wrong: Sequence[int]) -> tuple[int, tuple[int, ...], int, int]:
    """The first position at which two sequences of token ids differ, the tokens before it, and both tokens there.

    Raises an InputTextError if one begins with all of the other.
    """
    for position, (a, b) in enumerate(zip(right, wrong, strict=False)):
        if a != b:
            return position, tuple(right[:position]), a, b
    raise InputTextError(
        "Expected two different words, got the same word twice, or one word that begins with the other."
    )
