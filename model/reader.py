"""What every model has that turns a text into a trace, what those have that write, and what is known of a loaded one.

Our own `Translator` is such, and the adapters of other models.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, Protocol, Self, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.decoding.beam import BeamTree, Penalty
from model.decoding.cost import DecoderSizes
from model.decoding.logit_lens import LogitLens, logit_lens
from model.decoding.sampling import UNCHANGED, SampledTranslation, Sampling
from model.decoding.search import StepsDone
from model.decoding.session import Session
from model.decoding.side_by_side import BatchMasks
from model.errors import DeviceError, InputTextError, TraceError
from model.interruption import Progress
from model.languages import NOTHING_OFFERED, Offered
from model.nn.edit_hooks import Edits
from model.parts.parts import Parts
from model.trace.steps import Spread, Vocabulary
from model.trace.trace import Trace
from model.training_record import LANGUAGES


@runtime_checkable
class Reader(Protocol):
    """A loaded model, in evaluation mode. Safe to share between threads: nothing of a run is kept on it.

    What models have in common is done here; each kind is a subclass, and does the rest.
    """

    model: nn.Module
    name: str  #: of its folder
    digest: str  #: names exactly this content
    languages: tuple[str, str]  #: of what it reads and of what it writes, as HTML names them; "" if nobody knows

    def __init__(self, model: nn.Module, *, name: str, digest: str, languages: tuple[str, str] = ("", "")) -> None:
        self.model = model.eval()
        self.name, self.digest, self.languages = name, digest, languages

    @property
    def key(self) -> str:
        """Names this content on this device with this number type: what is cached of a model is kept under it."""
        return f"{self.digest}/{self.device}/{next(self.model.parameters()).dtype}"

    @property
    def weights_digest(self) -> str:
        """Names all that a measurement of the model depends on: `digest`, but for its card, where that can be told."""
        return self.digest

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.model.parameters()).device

    @property
    def num_bytes(self) -> int:
        """Bytes of the weights that are in memory."""
        return sum(weight.nbytes for weight in self.model.parameters() if not weight.is_meta)

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""

    @property
    def is_english_german(self) -> bool:
        """Whether it is known to translate English to German: only of such a model German words are looked for."""
        return self.languages == LANGUAGES

    @property
    def parts(self) -> Parts:
        """Its parts by their names; what it does not have raises a TraceError."""

    @property
    def offered(self) -> Offered:
        """The languages that may be chosen; none unless a kind of model says so."""
        return NOTHING_OFFERED

    def speaking(self, reads: str = "", writes: str = "") -> Self:
        """The same model, with the same weights, in these of its languages; "" leaves the one that is chosen.

        Raises an InputTextError if a code is none of those offered.
        """
        self.offered.with_choice(reads, writes)
        return self

    def reading(self, name: str, content: Any) -> Self:
        """The same model, which reads this content of a file of this name, whatever the text; as it is, if it reads
        text (`Abilities.reads`).
        """
        return self

    @property
    def vocabulary(self) -> Vocabulary:
        """What tells tokens, or labels, by their ids; of a model that says any."""
        raise TypeError("This model says no tokens.")

    def all_tokens(self, *, of_source: bool = False) -> tuple[str, ...]:
        """Every token of the vocabulary, in the order of their ids; none of a model of pictures.

        `of_source` asks for the vocabulary of what it reads, where it writes another.
        """

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that stand for no text."""

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes, by which a vocabulary spells the characters that it lacks."""

    def source_ids(self, text: str) -> Sequence[int]:
        """The tokens of a text, or the positions of what it reads instead (`reading`).

        Raises an InputTextError if the text is blank or too long, or there is nothing.
        """

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

    def trace_batch(self, sentences: Sequence[tuple[str, str | None]]) -> Iterator[tuple[int, Trace | InputTextError]]:
        """The number of each sentence with its trace, or why it is refused, before all sentences after it.

        `sentences`: each with what the decoder of an encoder–decoder reads along with it, as of `trace`. One after the
        other, unless a kind of model reads several at once.
        """
        has_both = "decoder.cross" in self.abilities.heads
        for number, (text, target) in enumerate(sentences):
            try:
                yield number, self.trace(text, target if has_both else None)
            except InputTextError as error:
                yield number, error

    def logit_lens(self, trace: Trace, top: int = 5, steps: slice = slice(None)) -> LogitLens:
        """What each layer of the decoder would have said at these of its steps, with `top` tokens. Raises as
        `logit_lens` of `model.decoding`, or a TraceError that says what the model lacks."""
        if why := self.abilities.lacks.get("logit lens"):
            raise TraceError(why)
        return logit_lens(self.parts, trace, self.vocabulary, top, steps)

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site, cut into each head's own rows (§3.2.2), float32 on the CPU; without its bias.

        Raises a TraceError if there is no such site or layer, or the model does not tell.
        """


LARGEST_ALPHA: Final = 5.0


class Writer(Reader, Protocol):
    """A `Reader` whose model writes; each method may raise what `Translator` says, or a SessionError."""

    penalty: Penalty  #: how beam search takes the length of a text into account (`model.decoding.beam.BeamRule`)

    @property
    def vocab_size(self) -> int:
        """Token ids that the model knows."""

    @property
    def end_ids(self) -> frozenset[int]:
        """The tokens each of which ends a text; none where it writes as long as it may."""

    @property
    def reserved_ids(self) -> frozenset[int]:
        """Special tokens that a person may not force: padding, the beginning, the unknown piece."""

    def target_ids(self, text: str) -> Sequence[int]:
        """The tokens of a translation that is given. Raises as `source_ids`."""

    def source_offsets(self, text: str) -> Sequence[tuple[int, int]] | None:
        """The characters of a text behind each of its tokens; None where the tokenizer does not tell."""

    def target_offsets(self, text: str) -> Sequence[tuple[int, int]] | None:
        """The same of a translation."""

    def spell(self, word: str) -> Sequence[int] | None:
        """The tokens of a word that is written after others; None where the vocabulary lacks one of its characters."""

    def translate(self, text: str, *, beam: int = 1) -> str:
        """What the model writes greedily, or by its beam search if `beam` is above 1."""

    def translate_all(self, texts: Sequence[str], *, beam: int = 1, progress: Progress = ...) -> list[str]:
        """As `translate`, of many; `progress` is called with the number of texts done since the last call."""

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

    def spread(self, trace: Trace) -> Spread:
        """How the probability of each step is spread over the vocabulary."""

    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """Translate texts, then read all of them in one padded batch and report the masks used.

        Raises an InputTextError if a text is blank or too long, a TraceError where "batch masks" are lacked.
        """

    def decoder_sizes(self, trace: Trace) -> DecoderSizes:
        """What a row of the decoder costs; `trace` is one of it. Raises a TraceError where that is not known."""


DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def choose_device(name: str | None = None) -> torch.device:
    """The named device; by default CUDA if present, else the CPU. Raises a DeviceError if it does not exist here."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError("Unknown device {name!r}; use cpu, cuda or cuda:N.", name=name) from error
    if device.type not in ("cpu", "cuda") or (device.type == "cpu" and device.index is not None):
        raise DeviceError("Device {name!r} is not supported; use cpu, cuda or cuda:N.", name=name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        message = "Device {name!r} was requested, but {device_count} CUDA devices are present."
        raise DeviceError(message, name=name, device_count=torch.cuda.device_count())
    return device


def gpu_memory(device: str) -> int | None:
    """Bytes of memory that a GPU has; None of the CPU, which has the machine's."""
    return torch.cuda.get_device_properties(device).total_memory if device.startswith("cuda") else None


def multiplies_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for products of bfloat16; without them they are far slower than float32's."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return any(has_it for name, has_it in torch.cpu.get_capabilities().items() if "bf16" in name)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The number type of weights and activations. Raises a DeviceError if the type is unknown, or bfloat16 on a CPU."""
    if name not in DTYPES:
        raise DeviceError("Unknown number type {name!r}; use {dtypes}.", name=name, dtypes=" or ".join(DTYPES))
    if name == "bfloat16" and device.type != "cuda":
        raise DeviceError("bfloat16 is a setting for CUDA devices; on the CPU the model runs in float32.")
    return DTYPES[name]
