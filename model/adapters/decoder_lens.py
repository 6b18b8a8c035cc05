"""Logit lens of decoder-only Hugging Face models, and the sizes of any library model's decoder.

nostalgebraist 2020, on the models it was made for. The final norm is the module whose output the output projection
reads in a short run; both are taken only if together they give what the model itself says.
"""

from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from threading import get_ident
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.capture import head_edits
from model.adapters.layout import Layout
from model.adapters.library import LINEAR
from model.adapters.norms import NORM_UNKNOWN, final_norm
from model.adapters.placement import device_of
from model.adapters.text_reader import TextReader
from model.decoding.cost import DecoderSizes
from model.decoding.logit_lens import LogitLens, Readout, join_levels, read_level
from model.errors import TraceError, said
from model.nn.hooks import listen
from model.trace.steps import Vocabulary
from model.trace.trace import Trace

#: Largest difference, in nats or units of a logit, between what the last level says and the model.
TOLERANCE: Final = 1e-2


@torch.inference_mode()
def decoder_lens(
    model: nn.Module, layout: Layout, abilities: Abilities, trace: Trace, vocabulary: Vocabulary, top: int
) -> LogitLens:
    """Read the tokens of a trace once more, and every level with the model's final norm and output projection.

    What edits did to its heads they do again; `top` of the most probable tokens are kept at each level and row. Raises
    a TraceError if the model is of another kind, final norm or projection are not known, the trace has no steps or is
    not of this model, or `top` is no number of tokens of the vocabulary.
    """
    if "logit lens" in abilities.lacks:
        raise TraceError(abilities.lacks["logit lens"])
    if not trace.steps or trace.sites != ("decoder.self",):
        raise TraceError("The logit lens needs a trace of this model with its decoding steps; a shorter text has them.")
    head: Any = model.get_output_embeddings()  # type: ignore[operator]
    size = head.weight.size(0)
    if not 1 <= top <= size or max(trace.target_ids) >= size:
        raise TraceError("The logit lens can show 1 to {size:,} tokens for this model, got {top}.", size=size, top=top)
    num_rows = len(trace.target_ids)
    functions = head_edits(trace.edits, abilities, num_source=0, num_target=num_rows)
    given = torch.tensor([trace.target_ids], device=device_of(model))
    with listen(edits=functions):
        output: Any = model(input_ids=given, use_cache=False, output_hidden_states=True)
    # Of what was written, the trace may have the steps alone: the last of its rows.
    levels = [states[0, -len(trace.steps) :] for states in output.hidden_states]
    readouts = _readouts(model, head, levels, output.logits[0])
    chosen = torch.tensor([step.token_id for step in trace.steps], device=given.device)
    read = [
        read_level(level, chosen, readout, top, vocab_size=size)
        for level, readout in zip(levels, readouts, strict=True)
    ]
    return join_levels(read, trace.steps, vocabulary)


def _readouts(model: nn.Module, head: nn.Module, levels: list[Tensor], logits: Tensor) -> list[Readout]:
    """One for each level. The library gives the last one already normed, as a rule."""
    norm, config = final_norm(model), model.config
    if norm is None:
        raise TraceError(NORM_UNKNOWN)
    scaling, cap = (getattr(config, name, None) for name in ("logits_scaling", "final_logit_softcapping"))

    def project(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        projected: Tensor = head(rows).float()
        projected = projected / scaling if isinstance(scaling, float | int) else projected
        return (projected / cap).tanh() * cap if isinstance(cap, float | int) else projected

    def normed(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        return project(norm(rows))

    for last in (project, normed):
        if torch.allclose(last(levels[-1][-1:]), logits[-1:].float(), rtol=0, atol=TOLERANCE):
            return [*[normed] * (len(levels) - 1), last]
    raise TraceError(NORM_UNKNOWN)


UNKNOWN: Final = said(
    "It is unknown how many rows some matrices of this model multiply (experts of which a few are chosen, or "
    "projections between layers), so the cost of a step is not counted."
)


def library_sizes(reader: TextReader, trace: Trace) -> DecoderSizes:
    """The multiply-adds of a decoder by what they grow with.

    Raises a TraceError if the model does not give its inputs, or multiplies by more than is found here; it says so.
    `trace` is one of it, from which the widths of heads are taken.
    """
    if "cost" in reader.abilities.lacks:
        raise TraceError(reader.abilities.lacks["cost"])
    model: Any = reader.model
    has_memory = "decoder.cross" in trace.sites
    counted: Counter[str] = Counter()
    found: set[nn.Module] = {model.get_output_embeddings()}
    of_memory = _of_memory(reader, trace) if has_memory else set()
    for layer in range(trace.layers_of("decoder.self")):
        own, around = _of_attention(reader, "decoder.self", layer)
        counted["self_row"] += _numbers(own)
        counted += _of_heads(trace, "self", layer)
        in_attentions = set(own)
        if has_memory:
            across, _ = _of_attention(reader, "decoder.cross", layer)
            counted["cross_memory"] += _numbers(across & of_memory)
            counted["cross_row"] += _numbers(across - of_memory)
            counted += _of_heads(trace, "cross", layer)
            in_attentions |= across
        of_layer = _matrices(around)
        counted["feed_forward_row"] += _numbers(of_layer - in_attentions)
        found |= of_layer
        if any(parameter.dim() > 2 for parameter in around.parameters()):
            raise TraceError(UNKNOWN)
    if _matrices(model.get_decoder()) - found:
        raise TraceError(UNKNOWN)
    return DecoderSizes(output=_numbers([model.get_output_embeddings()]), **counted)


def _of_attention(reader: TextReader, site: str, layer: int) -> tuple[set[nn.Module], nn.Module]:
    """The matrices of an attention, W_O too, and the layer around it."""
    attention, around = reader.attention_of(site, layer)
    return _matrices(attention) | {reader.layout.projections[site, layer]}, around


def _of_memory(reader: TextReader, trace: Trace) -> set[nn.Module]:
    """The matrices of the decoder that multiply what the encoder puts out: W_K and W_V of each cross-attention."""
    model: Any = reader.model
    read: dict[nn.Module, Tensor] = {}
    here = get_ident()

    def note(module: nn.Module, given: tuple[Tensor, ...]) -> None:
        # Another thread may run the model meanwhile.
        if get_ident() == here:
            read[module] = given[0]

    with ExitStack() as stack:
        for matrix in _matrices(model.get_decoder()):
            stack.callback(matrix.register_forward_pre_hook(note).remove)
        memory = reader.run_again(trace).encoder_last_hidden_state
    return {matrix for matrix, given in read.items() if torch.equal(given, memory)}


def _of_heads(trace: Trace, kind: str, layer: int) -> Counter[str]:
    """What a pair of rows takes in all heads of an attention, and what is cached of a row."""
    inputs = trace.attention(f"decoder.{kind}", layer)
    both = inputs.query.size(-1) + inputs.value.size(-1)
    return Counter({f"{kind}_pair": inputs.query.size(0) * both, f"{kind}_numbers": inputs.key.size(0) * both})


def _matrices(module: nn.Module) -> set[nn.Module]:
    return {each for each in module.modules() if isinstance(each, LINEAR)}


def _numbers(matrices: Iterable[nn.Module]) -> int:
    return sum(matrix.get_parameter("weight").numel() for matrix in matrices)
