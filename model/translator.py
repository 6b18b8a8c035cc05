"""Headlight's own Transformers, from a checkpoint or a MarianMT folder: all of their insides can be reached."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jaxtyping import Float
from torch import Tensor

from model.abilities import Abilities, View
from model.config import TransformerConfig
from model.decoding.logit_lens import LogitLens, logit_lens
from model.decoding.search import EXTRA_LENGTH
from model.decoding.side_by_side import BatchMasks, run_batch
from model.errors import CheckpointError, InputTextError
from model.messages import said
from model.nn.encoder_decoder import SITES, site_path
from model.nn.transformer import Transformer
from model.sequence_translator import SequenceTranslator, read_folder
from model.trace.trace import Trace

NO_POSITIONS: Final = said(
    "This model adds no positional encodings: its encoder cannot see the order of the words, and its decoder sees "
    "only which tokens came before."
)
NO_RESIDUAL: Final = said(
    "A rollout follows attention through the layers and gives half of the weight to the residual connections (Abnar "
    "& Zuidema 2020); this model was trained without residual connections."
)


class Translator(SequenceTranslator):
    """A loaded Transformer. Safe to share between threads: nothing of a run is kept on it."""

    model: Transformer

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None, dtype: str = "float32") -> "Translator":
        """Load a checkpoint folder, or a MarianMT (OPUS-MT) model as Hugging Face's hub has it.

        Args:
            folder: for example "checkpoints/en-de".
            device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
            dtype: "float32", or "bfloat16" on CUDA.

        Raises:
            CheckpointError: the folder is missing or damaged, or holds a model that is no Transformer.
            DeviceError: there is no such device, or it does not run this number type.
        """
        read = read_folder(Path(folder), device, dtype)
        if not isinstance(read.model, Transformer):
            raise CheckpointError(
                "{name} contains a model from before the Transformer, which does not support this; "
                "`open_reader(folder)` opens it, and so does `python -m model translate TEXT --checkpoint "
                "CHECKPOINT`.",
                name=read.name,
            )
        return cls(read.model, read.tokenizer, name=read.name, digest=read.digest, languages=read.languages)

    @property
    def config(self) -> TransformerConfig:
        """The model's hyperparameters."""
        return self.model.config

    @property
    def abilities(self) -> Abilities:
        """What the model has: everything, but for positions and residual connections where it was made without."""
        lacks: dict[View, str] = {}
        if self.config.positions == "none":
            lacks["positional encodings"] = NO_POSITIONS
        if not self.config.residual:
            lacks["rollout"] = NO_RESIDUAL
        return Abilities(
            kind="encoder-decoder",
            family="Headlight",
            heads={site: (self.config.num_heads,) * self.config.layers_of(site) for site in SITES},
            is_headlight=True,
            generates=True,
            knows_inputs=True,
            positions=self.config.positions,
            max_length=self.config.max_length,
            max_target_length=self.config.max_length + EXTRA_LENGTH,
            lacks=lacks,
        )

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site, cut into each head's own rows (§3.2.2), float32 on the CPU; without its bias."""
        weight = self.model.get_submodule(f"{site_path(site, layer)}.output").get_parameter("weight").detach()
        return weight.T.reshape(self.config.num_heads, -1, self.config.d_model).float().cpu()

    def logit_lens(self, trace: Trace, top: int = 5) -> LogitLens:
        """What each decoder layer of a trace would have said, with its `top` most probable tokens.

        Raises:
            TraceError: the trace was made by another model, or `top` is no number of tokens of the vocabulary.
        """
        return logit_lens(trace, self.model, self.tokenizer, top)

    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """Translate several sentences, then read all of them in one padded batch and report the masks used.

        Raises:
            InputTextError: a text is blank or too long; its place in the batch is named.
        """
        if not texts:
            raise InputTextError("Give at least one sentence.")
        names = [said("The sentence")]
        if len(texts) > 1:
            names = [said("Sentence {number}", number=number) for number in range(1, len(texts) + 1)]
        source_ids = [self.source_ids(text, name) for text, name in zip(texts, names, strict=True)]
        return run_batch(self.model, self.tokenizer, source_ids)
