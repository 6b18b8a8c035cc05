"""Text in, translation or trace out: the one place that joins tokenizer, model, hooks and decoding.

Knows nothing of pages or the command line.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.edit_comparison import EditComparison, check_step, compare_sessions, edits_from
from model.analysis.logit_lens import LogitLens, logit_lens
from model.checkpoint import load_checkpoint
from model.config import TransformerConfig
from model.decoding import EXTRA_LENGTH, beam_search, greedy_search
from model.device import choose_device, choose_dtype
from model.edit_hooks import Edits, compile_edits
from model.edits import HeadEdit
from model.errors import InputTextError
from model.hooks import ALWAYS_RECORDED, Edit, listen
from model.masks import key_padding, pad
from model.session import DecodingSession, forced_steps
from model.tokenizer import Tokenizer
from model.trace import Trace, build_trace, join_recorded
from model.transformer import Transformer, site_path

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BatchMasks:
    """Masks of several sentences in one batch, as the model used them; True = may attend.

    Attributes:
        source_tokens, target_tokens: per sentence, padded with "<pad>" to the longest.
        encoder_self: source padding [batch, query, key].
        decoder_self: causal and target padding [batch, query, key].
        decoder_cross: source padding, for target rows [batch, query, key].
        causal: the causal part of `decoder_self` alone [query, key].
        target_padding: its padding part alone [batch, query, key].
    """

    source_tokens: tuple[tuple[str, ...], ...]
    target_tokens: tuple[tuple[str, ...], ...]
    encoder_self: BoolArray
    decoder_self: BoolArray
    decoder_cross: BoolArray
    causal: BoolArray
    target_padding: BoolArray


class Translator:
    """A loaded checkpoint. Safe to share between threads: nothing of a run is kept on it."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer, *, name: str = "", digest: str = "") -> None:
        self.model, self.tokenizer, self.name, self.digest = model.eval(), tokenizer, name, digest

    @classmethod
    def load(cls, folder: str | Path, *, device: str | None = None, dtype: str = "float32") -> "Translator":
        """Load a checkpoint folder.

        Args:
            folder: for example "checkpoints/en-de".
            device: "cpu", "cuda" or "cuda:N"; by default CUDA if present, else the CPU.
            dtype: "float32", or "bfloat16" on CUDA.

        Raises:
            CheckpointError: the folder is missing or damaged.
            DeviceError: there is no such device, or it does not run this number type.
        """
        chosen = choose_device(device)
        checkpoint = load_checkpoint(Path(folder), chosen, choose_dtype(dtype, chosen))
        return cls(checkpoint.model, checkpoint.tokenizer, name=Path(folder).name, digest=checkpoint.digest)

    @property
    def config(self) -> TransformerConfig:
        """The model's hyperparameters."""
        return self.model.config

    @property
    def device(self) -> torch.device:
        """Where the model lies."""
        return self.model.device

    def output_projection(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        """W_O of an attention site, cut into each head's own rows (§3.2.2), float32 on the CPU; without its bias."""
        weight = self.model.get_submodule(f"{site_path(site, layer)}.output").get_parameter("weight").detach()
        return weight.T.reshape(self.config.num_heads, -1, self.config.d_model).float().cpu()

    def translate(self, text: str, *, beam: int = 1, alpha: float = 0.6) -> str:
        """Translate greedily, or by beam search with length penalty exponent `alpha` if `beam` is above 1 (§6.1).

        Raises:
            InputTextError: the text is blank or too long.
        """
        if beam < 1:
            raise InputTextError(f"The beam must be at least 1 wide, got {beam}.")
        source_ids = torch.tensor([self.source_ids(text)], device=self.device)
        if beam == 1:
            return self.tokenizer.decode(greedy_search(self.model, source_ids, None)[0])
        return self.tokenizer.decode(beam_search(self.model, source_ids, None, beam=beam, alpha=alpha)[0][0].token_ids)

    def decode(self, text: str, *, extras: Collection[str] = (), edits: Edits | None = None) -> DecodingSession:
        """Begin to decode step by step.

        Args:
            text: the source sentence.
            extras: {"hook_head_output"} to record the real head outputs.
            edits: named edits of heads, or full hook name → function from the value there to the one to go on with.

        Raises:
            InputTextError: the text is blank or too long.
            EditError: an edit names what does not exist, or a key that the mask forbids.
        """
        source_ids = self.source_ids(text)
        functions = self._edit_functions(edits, len(source_ids), len(source_ids) - 1 + EXTRA_LENGTH)
        return DecodingSession(self.model, self.tokenizer, text, source_ids, extras=frozenset(extras), edits=functions)

    def trace(
        self,
        text: str,
        target: str | None = None,
        *,
        extras: Collection[str] = (),
        edits: Edits | None = None,
    ) -> Trace:
        """Run once with every hook recorded.

        Args:
            text: the source sentence.
            target: a translation to read along (teacher forcing); by default the model's own, decoded greedily.
            extras: further hooks to record, from `hooks.EXTRAS`.
            edits: named edits of heads, or full hook name → function from the value there to the one to go on with.

        Raises:
            InputTextError: a text is blank or too long.
            EditError: an edit names what does not exist, or a key that the mask forbids.
        """
        if target is not None:
            return self._forced_trace(text, self.target_ids(target), extras, edits)
        num_source = len(self.source_ids(text))
        functions = self._edit_functions(edits, num_source, num_source - 1 + EXTRA_LENGTH)
        session = self.decode(text, extras=set(extras) & {"hook_head_output"}, edits=functions)
        session.run()
        if set(extras) <= {"hook_head_output"}:
            return session.trace()
        # Scores and weights of a whole pass are recorded in one: over the tokens just decoded.
        return self._forced_trace(text, session.target_ids[1:], extras, functions)

    def logit_lens(self, trace: Trace, top: int = 5) -> LogitLens:
        """What each decoder layer of a trace would have said, with its `top` most probable tokens.

        Raises:
            TraceError: the trace was made by another model, or `top` is no number of tokens of the vocabulary.
        """
        return logit_lens(trace, self.model, self.tokenizer, top)

    def compare_edit(self, text: str, step: int, edits: Sequence[HeadEdit]) -> EditComparison:
        """Translate, and translate anew from `step` on under edits of attention; the tokens before `step` are kept.

        Edits of the decoder act on no row before `step`, edits of the encoder on the whole encoding.

        Raises:
            InputTextError: the text is blank or too long.
            SessionError: the translation has no such step.
            EditError: an edit names what does not exist, a key that the mask forbids, or a row before `step`.
        """
        original = self.decode(text)
        original.run()
        check_step(original, step)
        acting = edits_from(edits, step)
        return compare_sessions(original, self.decode(text, edits=acting), step, acting)

    def source_ids(self, text: str, name: str = "The sentence") -> list[int]:
        """Token ids of a source sentence, ending with </s>; `name` is what an error calls it.

        Raises:
            InputTextError: the text is blank or too long.
        """
        return [*self._checked(text, name, self.config.max_length - 1), self.config.eos_id]

    def target_ids(self, text: str) -> list[int]:
        """Token ids that a given translation emits, ending with </s>.

        Raises:
            InputTextError: the text is blank or too long.
        """
        return [*self._checked(text, "The target", self.config.max_length + EXTRA_LENGTH - 1), self.config.eos_id]

    @torch.inference_mode()
    def masks(self, texts: Sequence[str]) -> BatchMasks:
        """Translate several sentences, then read all of them in one padded batch and report the masks used.

        Raises:
            InputTextError: a text is blank or too long; its place in the batch is named.
        """
        if not texts:
            raise InputTextError("Give at least one sentence.")
        names = [f"Sentence {place}" if len(texts) > 1 else "The sentence" for place in range(1, len(texts) + 1)]
        source_ids = [self.source_ids(text, name) for text, name in zip(texts, names, strict=True)]
        source = pad(source_ids, self.config.pad_id).to(self.device)
        source_padding = key_padding(source, self.config.pad_id)
        outputs = greedy_search(self.model, source, source_padding)
        target = pad([[self.config.bos_id, *ids] for ids in outputs], self.config.pad_id).to(self.device)
        with listen(record={"hook_mask"}) as recorded:
            self.model(source, target, source_padding, key_padding(target, self.config.pad_id))
        encoder_self, decoder_self, decoder_cross = (
            recorded[f"{path}.hook_mask"][0]
            for path in (
                "encoder.layers.0.self_attention",
                "decoder.layers.0.self_attention",
                "decoder.layers.0.cross_attention",
            )
        )
        causal, target_padding = decoder_self.parts()
        return BatchMasks(
            source_tokens=tuple(self.tokenizer.tokens(ids) for ids in source.tolist()),
            target_tokens=tuple(self.tokenizer.tokens(ids) for ids in target.tolist()),
            encoder_self=encoder_self.rows().cpu().numpy(),
            decoder_self=decoder_self.rows().cpu().numpy(),
            decoder_cross=decoder_cross.rows().cpu().numpy(),
            causal=causal.rows()[0].cpu().numpy(),
            target_padding=target_padding.rows().cpu().numpy(),
        )

    @torch.inference_mode()
    def _forced_trace(self, text: str, emitted: Sequence[int], extras: Collection[str], edits: Edits | None) -> Trace:
        source_ids = self.source_ids(text)
        functions = self._edit_functions(edits, len(source_ids), len(emitted))
        target_ids = [self.config.bos_id, *emitted[:-1]]
        with listen(record=ALWAYS_RECORDED | set(extras), edits=functions) as recorded:
            logits = self.model(
                torch.tensor([source_ids], device=self.device), torch.tensor([target_ids], device=self.device)
            )[0].float()
        return build_trace(
            text=text,
            translation=self.tokenizer.decode(emitted),
            tokenizer=self.tokenizer,
            source_ids=source_ids,
            target_ids=target_ids,
            predicted_ids=logits.argmax(-1).tolist(),
            steps=forced_steps(logits, emitted, self.tokenizer),
            recorded=join_recorded([recorded]),
            config=self.config,
            edits=functions,
        )

    def _checked(self, text: str, what: str, limit: int) -> list[int]:
        if not text.strip():
            raise InputTextError(f"{what} is empty. Type a sentence, for example “The cat sleeps.”")
        # A piece has at most 16 characters, so far longer texts need not be tokenized to be refused.
        token_ids = self.tokenizer.encode(text) if len(text) <= 100 * limit else None
        if token_ids is None or len(token_ids) > limit:
            length = "far more" if token_ids is None else f"{len(token_ids):,}"
            raise InputTextError(
                f"{what} is too long: this model reads at most {limit:,} tokens, the text has {length} "
                f"({len(text):,} characters). Shorten it, or enter it in parts."
            )
        if not token_ids:
            raise InputTextError(f"{what} holds only characters that cannot be seen. Type a sentence.")
        return token_ids

    def _edit_functions(self, edits: Edits | None, num_source: int, num_target: int) -> Mapping[str, Edit]:
        if not isinstance(edits, Mapping):
            return compile_edits(edits or (), self.config, num_source=num_source, num_target=num_target)
        if unknown := sorted(set(edits) - self.model.hook_names):
            raise ValueError(f"no such hook points: {unknown}; see Transformer.hook_names")
        return edits
