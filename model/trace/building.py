"""Put a trace together from what the hooks recorded of one sentence."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import torch

from model.nn.attention import AttentionInputs
from model.nn.edit_hooks import is_named, named_edits
from model.nn.encoder_decoder import EncoderDecoder, site_path
from model.nn.hooks import Edit
from model.nn.masks import AttentionMask
from model.tokenizer import Tokenizer
from model.trace.steps import DecodingStep
from model.trace.trace import Recorded, Trace


def join_recorded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """One value per hook: what several calls computed row after row (or one call at once), without batch dimension."""
    joined: dict[str, Any] = {}
    for name in {name: None for call in calls for name in call}:
        values = [value for call in calls for value in call.get(name, ())]
        if isinstance(values[0], AttentionMask):
            joined[name] = AttentionMask.joined(values)
        else:
            rows = torch.cat(values, dim=-2).to("cpu")
            joined[name] = rows if name.endswith("hook_positional") else rows[0]
    return joined


def build_trace(
    *,
    reader_key: str,
    text: str,
    translation: str,
    tokenizer: Tokenizer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    predicted_ids: Sequence[int],
    steps: Sequence[DecodingStep],
    recorded: Mapping[str, Any],
    model: EncoderDecoder,
    edits: Mapping[str, Edit],
) -> Trace:
    """Put a trace together from what the hooks recorded of one sentence, and the edits under which it ran.

    A function among `edits` that is no named edit (`model.nn.edits`) may do anything to weights and head outputs, so
    derived values do not include it: record "hook_weights" and "hook_head_output" to see what the model used. It has no
    name to be cached by, so each of its runs has a key of its own.
    """
    inputs: dict[str, tuple[AttentionInputs, ...]] = {}
    for site, (num_layers, _) in model.config.shapes.items():
        layers = []
        for layer in range(num_layers):
            path = site_path(site, layer)
            query, key, value, mask = (recorded[f"{path}.hook_{part}"] for part in ("query", "key", "value", "mask"))
            mask, named = mask.to(torch.device("cpu")), named_edits(edits, path)
            layers.append(
                AttentionInputs(
                    query=query,
                    key=key,
                    value=value,
                    mask=mask,
                    scale=model.attention_site(site, layer).scale,
                    score=model.score_of(site, layer),
                    edits=named,
                )
            )
        inputs[site] = tuple(layers)
    held_by_inputs = ("hook_query", "hook_key", "hook_value", "hook_mask")
    rest = {name: value for name, value in recorded.items() if not name.endswith(held_by_inputs)}
    if not all(map(is_named, edits.values())):
        reader_key = f"{reader_key}/{uuid4().hex}"
    return Trace(
        reader_key=reader_key,
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
