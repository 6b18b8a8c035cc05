"""What one run left behind, for one sentence: tokens, attention inputs, positions, steps. Knows nothing of the run.

Weights are not stored; they are derived from q, k and mask on demand, by the model's own `attention_weights`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.attention import AttentionInputs
from model.config import TransformerConfig
from model.edit_hooks import named_edits
from model.edits import HeadEdit
from model.errors import TraceError
from model.hooks import Edit
from model.masks import AttentionMask, Rows
from model.row_blocks import row_slices
from model.steps import DecodingStep
from model.tokenizer import Tokenizer
from model.transformer import SITES, site_path

Recorded = dict[str, list[Any]]
"""Full hook name → the values of one call of the model, as `hooks.listen` yields them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """One sentence, one target, and what every attention site computed. All tensors lie on the CPU.

    Attributes:
        text: the source as typed.
        translation: the target as text.
        source_ids, source_tokens: what the encoder read, </s> last.
        target_ids, target_tokens: what the decoder read, <s> first; one per query row.
        predicted_ids, predicted_tokens: what the model found most probable after each of these rows.
        steps: per row, the token that really follows, its probability, and the candidates.
        inputs: site → per layer, what its weights were computed from.
        recorded: full hook name → value without batch dimension: embeddings, positions, layer outputs, extras.
    """

    text: str
    translation: str
    source_ids: tuple[int, ...]
    source_tokens: tuple[str, ...]
    target_ids: tuple[int, ...]
    target_tokens: tuple[str, ...]
    predicted_ids: tuple[int, ...]
    predicted_tokens: tuple[str, ...]
    steps: tuple[DecodingStep, ...]
    inputs: Mapping[str, tuple[AttentionInputs, ...]]
    recorded: Mapping[str, Tensor]

    @property
    def sites(self) -> tuple[str, ...]:
        """Attention sites: encoder.self, decoder.self, decoder.cross."""
        return tuple(self.inputs)

    @property
    def num_layers(self) -> int:
        """Layers of each stack."""
        return len(self.inputs[self.sites[0]])

    @property
    def num_heads(self) -> int:
        """Heads of each site."""
        return self.inputs[self.sites[0]][0].num_heads

    @property
    def edits(self) -> tuple[HeadEdit, ...]:
        """What was done to heads in this run; scores, weights and head outputs are those that the model used then."""
        return tuple(edit for layers in self.inputs.values() for inputs in layers for edit in inputs.edits)

    @property
    def positional(self) -> Mapping[str, Float[Tensor, "position d_model"]]:
        """The positional encodings as added, for "source" and "target"."""
        return self._of_both_sides("hook_positional")

    @property
    def embedding(self) -> Mapping[str, Float[Tensor, "position d_model"]]:
        """The √d_model-scaled embeddings before positions are added, for "source" and "target"."""
        return self._of_both_sides("hook_embedding")

    def axis_tokens(self, site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Tokens of a site's query rows and of its key columns."""
        self._check(site, 0, None)
        stack, kind = site.split(".")
        queries = self.source_tokens if stack == "encoder" else self.target_tokens
        return queries, self.source_tokens if kind == "cross" else queries

    def attention(self, site: str, layer: int) -> AttentionInputs:
        """What this site and layer computed its weights from.

        Raises:
            TraceError: there is no such site or layer.
        """
        self._check(site, layer, None)
        return self.inputs[site][layer]

    def scores(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row key"]:
        """Scaled scores before the softmax, −∞ where masked, in float32, for all heads and rows or those named."""
        self._check(site, layer, heads)
        return self.inputs[site][layer].scores_and_weights(heads, rows).scores

    def weights(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row key"]:
        """Attention weights in float32; each row sums to 1 over its keys, or to 0 where its head is switched off."""
        self._check(site, layer, heads)
        return self.inputs[site][layer].scores_and_weights(heads, rows).weights

    def head_output(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row d_k"]:
        """weights @ value before W_O, in float32."""
        self._check(site, layer, heads)
        return self.inputs[site][layer].head_output(heads, rows)

    def mask(self, site: str, layer: int, rows: Rows = slice(None)) -> Bool[Tensor, "row key"]:
        """The mask as the model used it; True where attention is allowed."""
        self._check(site, layer, None)
        return self.inputs[site][layer].mask.rows(rows)[0]

    def head_output_deviation(self, site: str, layer: int) -> float:
        """Largest difference between the head output derived here and the one the model really computed.

        Raises:
            TraceError: the run did not record "hook_head_output".
        """
        name = f"{site_path(site, layer)}.hook_head_output"
        if name not in self.recorded:
            raise TraceError("This trace holds no real head outputs; trace with extras={'hook_head_output'}.")
        inputs, real = self.attention(site, layer), self.recorded[name].float()
        blocks = row_slices(0, inputs.query.size(1), inputs.num_heads * inputs.key.size(1))
        return max(float((inputs.head_output(rows=rows) - real[:, rows]).abs().max()) for rows in blocks)

    def save(self, path: str | Path) -> None:
        """Write everything to one .npz file (see `model.trace_file`)."""
        from model.trace_file import save_trace

        save_trace(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Read what `save` wrote.

        Raises:
            TraceError: there is no such file, it is no trace, damaged, or unreasonably large.
        """
        from model.trace_file import load_trace

        return load_trace(Path(path))

    def _of_both_sides(self, hook: str) -> Mapping[str, Tensor]:
        sides = {"source": "encoder", "target": "decoder"}
        values = {side: self.recorded[f"{stack}.embedding.{hook}"].float() for side, stack in sides.items()}
        return MappingProxyType(values)

    def _check(self, site: str, layer: int, heads: Sequence[int] | None) -> None:
        if site not in self.inputs:
            raise TraceError(f"There is no site {site!r}; sites are {', '.join(self.sites)}.")
        if not 0 <= layer < len(self.inputs[site]):
            raise TraceError(f"Layers of {site} run from 0 to {len(self.inputs[site]) - 1}, got {layer}.")
        if heads is not None and not all(0 <= head < self.num_heads for head in heads):
            raise TraceError(f"Heads run from 0 to {self.num_heads - 1}, got {list(heads)}.")


def join_recorded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """One value per hook: what several calls computed row after row (or one call at once), without batch dimension."""
    joined: dict[str, Any] = {}
    for name in {name: None for call in calls for name in call}:
        values = [value for call in calls for value in call.get(name, ())]
        if isinstance(values[0], AttentionMask):
            joined[name] = reduce(AttentionMask.followed_by, values)
        else:
            rows = torch.cat(values, dim=-2).to("cpu")
            joined[name] = rows if name.endswith("hook_positional") else rows[0]
    return joined


def build_trace(
    *,
    text: str,
    translation: str,
    tokenizer: Tokenizer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    predicted_ids: Sequence[int],
    steps: Sequence[DecodingStep],
    recorded: Mapping[str, Any],
    config: TransformerConfig,
    edits: Mapping[str, Edit],
) -> Trace:
    """Put a trace together from what the hooks recorded of one sentence, and the edits under which it ran.

    A function among `edits` that is no named edit (`model.edits`) may do anything to weights and head outputs, so what
    is derived cannot follow it: record "hook_weights" and "hook_head_output" to see what the model used.
    """
    inputs: dict[str, tuple[AttentionInputs, ...]] = {}
    for site in SITES:
        layers = []
        for layer in range(config.num_layers):
            path = site_path(site, layer)
            query, key, value, mask = (recorded[f"{path}.hook_{part}"] for part in ("query", "key", "value", "mask"))
            cpu_mask = mask.to(torch.device("cpu"))
            layers.append(
                AttentionInputs(
                    query=query,
                    key=key,
                    value=value,
                    mask=cpu_mask,
                    scale=config.d_k**-0.5,
                    edits=named_edits(edits, path),
                )
            )
        inputs[site] = tuple(layers)
    held_by_inputs = ("hook_query", "hook_key", "hook_value", "hook_mask")
    rest = {name: value for name, value in recorded.items() if not name.endswith(held_by_inputs)}
    return Trace(
        text=text,
        translation=translation,
        source_ids=tuple(source_ids),
        source_tokens=tokenizer.tokens(source_ids),
        target_ids=tuple(target_ids),
        target_tokens=tokenizer.tokens(target_ids),
        predicted_ids=tuple(predicted_ids),
        predicted_tokens=tokenizer.tokens(predicted_ids),
        steps=tuple(steps),
        inputs=MappingProxyType(inputs),
        recorded=MappingProxyType(rest),
    )
