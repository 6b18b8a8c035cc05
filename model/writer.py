"""What all models that write have in common: sessions that go step by step, beams, samples.

Headlight's own `Translator` and `model.adapters.text_writer.TextWriter` are such.
"""

from collections.abc import Collection, Sequence
from typing import Final, Protocol

from model.decoding.beam import Penalty
from model.decoding.beam_tree import BeamTree
from model.decoding.logit_lens import LogitLens
from model.decoding.samples import SampledTranslation
from model.decoding.sampling import UNCHANGED, Sampling
from model.decoding.search import StepsDone
from model.decoding.session import Session
from model.nn.edit_hooks import Edits
from model.reader import Reader
from model.trace.steps import Spread, Vocabulary
from model.trace.trace import Trace

LARGEST_ALPHA: Final = 5.0


class Writer(Reader, Protocol):
    """A `Reader` whose model writes; each method may raise what `Translator` says, or a SessionError.

    Attributes:
        penalty: how beam search takes the length of a text into account (`model.decoding.beam.BeamRule`).
    """

    penalty: Penalty

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
