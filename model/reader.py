"""Anything that turns a text into a trace, and how to open one from a folder. Knows nothing of pages.

A `Reader` is what Headlight's own `Translator` and the adapters of other people's models have in common.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities
from model.adapters.marian import is_opus_mt
from model.checkpoint import MANIFEST
from model.errors import CheckpointError
from model.nn.edit_hooks import Edits
from model.trace.trace import Trace


@runtime_checkable
class Reader(Protocol):
    """A loaded model. Safe to share between threads: nothing of a run is kept on it.

    Attributes:
        name: of its folder.
        digest: names exactly this content.
    """

    name: str
    digest: str

    @property
    def device(self) -> torch.device:
        """Where the model lies."""

    @property
    def abilities(self) -> Abilities:
        """What the model has and lacks."""

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


def open_reader(folder: str | Path, device: str | None = None, dtype: str = "float32") -> Reader:
    """Open a folder with a model in it, whichever kind it is.

    Args:
        folder: a checkpoint of Headlight's own, a MarianMT (OPUS-MT) model, or any folder as `transformers` saves it.
        device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
        dtype: "float32", or "bfloat16" on CUDA.

    Raises:
        CheckpointError: the folder holds no model, or one that cannot be opened; the message says what works.
        DeviceError: there is no such device, or it does not run this number type.
    """
    path = Path(folder)
    if (path / MANIFEST).is_file() or is_opus_mt(path):
        # MarianMT has our own architecture: what works for our checkpoints works for it.
        from model.translator import Translator

        return Translator.load(path, device=device, dtype=dtype)
    if not path.is_dir():
        raise CheckpointError(f"There is no folder {path}.")
    from model.adapters.opening import open_folder

    return open_folder(path, device=device, dtype=dtype)
