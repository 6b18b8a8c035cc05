"""What every model has that turns a text into a trace: our own `Translator`, and the adapters of other models."""

from collections.abc import Collection
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities
from model.nn.edit_hooks import Edits
from model.trace.trace import Trace


@runtime_checkable
class Reader(Protocol):
    """A loaded model. Safe to share between threads: nothing of a run is kept on it.

    Attributes:
        name: of its folder.
        digest: names exactly this content.
        languages: of what it reads and of what it writes, as HTML names them; "" if nobody knows.
    """

    name: str
    digest: str
    languages: tuple[str, str]

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

    def all_tokens(self) -> tuple[str, ...]:
        """Every token of the vocabulary, in the order of their ids; none of a model of pictures."""

    @property
    def special_ids(self) -> frozenset[int]:
        """The ids of the tokens that stand for no text."""

    @property
    def byte_ids(self) -> frozenset[int]:
        """The ids of the tokens of single bytes, by which a vocabulary spells the characters that it lacks."""

    def trace(
        self,
        text: str,
        target: str | None = None,
        *,
        extras: Collection[str] = (),
        edits: Edits | None = None,
    ) -> Trace:
        """Run once and keep what every attention site computed.

        Args:
            text: what to read.
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

        Raises:
            TraceError: there is no such site or layer, or the model does not tell.
        """
