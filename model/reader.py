"""What every model has that turns a text into a trace, and what those have besides that write.

Our own `Translator` is such, and the adapters of other models.
"""

from collections.abc import Collection, Sequence
from typing import Final, Protocol, Self, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities
from model.decoding.beam import BeamTree, Penalty
from model.decoding.logit_lens import LogitLens
from model.decoding.sampling import UNCHANGED, SampledTranslation, Sampling
from model.decoding.search import StepsDone
from model.decoding.session import Session
from model.languages import Offered
from model.nn.edit_hooks import Edits
from model.trace.steps import Spread, Vocabulary
from model.trace.trace import Trace


@runtime_checkable
class Reader(Protocol):
    """A loaded model. Safe to share between threads: nothing of a run is kept on it."""

    name: str  #: of its folder
    digest: str  #: names exactly this content
    languages: tuple[str, str]  #: of what it reads and of what it writes, as HTML names them; "" if nobody knows

    @property
    def key(self) -> str:
        """Names this content on this device with this number type: what is cached of a model is kept under it."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""

    @property
    def num_bytes(self) -> int:
        """Bytes of all weights."""

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""

    @property
    def offered(self) -> Offered:
        """The languages that may be chosen."""

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """The same model, with the same weights, in these of its languages; "" leaves the one that is chosen.

        Raises an InputTextError if a code is none of those offered.
        """

    def all_tokens(self) -> tuple[str, ...]:
        """Every token of the vocabulary, in the order of their ids; none of a model of pictures."""

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that stand for no text."""

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes, by which a vocabulary spells the characters that it lacks."""

    def trace(
        self, text: str, target: str | None = None, *, extras: Collection[str] = (), edits: Edits | None = None
    ) -> Trace:
        """Run once and keep what every attention site computed.

        Args:
            target: what the decoder reads along with it; by default what the model itself writes (encoder–decoder), or
                nothing more (decoder only).
            extras: {"hook_head_output"} to record the real head outputs.
            edits: named edits of heads.

        Raises:
            InputTextError: a text is blank or too long, or the model takes none.
            EditError: an edit names what does not exist, or the model's heads cannot be edited.
        """

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site, cut into each head's own rows (§3.2.2), float32 on the CPU; without its bias.

        Raises a TraceError if there is no such site or layer, or the model does not tell.
        """


LARGEST_ALPHA: Final = 5.0


class Writer(Reader, Protocol):
    """A `Reader` whose model writes; each method may raise what `Translator` says, or a SessionError."""

    penalty: Penalty  #: how beam search takes the length of a text into account (`model.decoding.beam.BeamRule`)

    @property
    def vocabulary(self) -> Vocabulary:
        """What tells tokens by their ids."""

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens each of which ends a text; none where it writes as long as it may."""

    @property
    def reserved_ids(self) -> frozenset[int]:
        """Special tokens that a person may not force: padding, the beginning, the unknown piece."""

    def spell(self, word: str) -> Sequence[int] | None:
        """The tokens of a word that is written after others; None where the vocabulary lacks one of its characters."""

    def translate(self, text: str) -> str:
        """What the model writes greedily."""

    def decode(self, text: str, *, extras: Collection[str] = (), edits: Edits | None = None) -> Session:
        """Begin to write step by step."""

    def trace_tokens(self, text: str, token_ids: Sequence[int]) -> Trace:
        """What is computed while these tokens are written, finished or not; for example a hypothesis of a beam."""

    def beam_tree(self, text: str, beam: int = 4, alpha: float = ..., *, progress: StepsDone = ...) -> BeamTree:
        """Beam search with everything that it compared on the way."""

    def sample(
        self, text: str, *, n: int = 1, sampling: Sampling = UNCHANGED, seed: int = 0, progress: StepsDone = ...
    ) -> list[SampledTranslation]:
        """Draw texts side by side."""

    def logit_lens(self, trace: Trace, top: int = 5) -> LogitLens:
        """What each layer of the decoder would have said."""

    def spread(self, trace: Trace) -> Spread:
        """How the probability of each step is spread over the vocabulary."""
