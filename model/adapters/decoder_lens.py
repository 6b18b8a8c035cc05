"""Logit lens of decoder-only Hugging Face models: what each layer would have predicted, had it been the last.

nostalgebraist 2020, on the models it was made for. Final norm and output projection are found by the names that they
have in the library, and taken only if together they give what the model itself says.
"""

from typing import Any, Final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.abilities import Abilities
from model.adapters.capture import head_edits
from model.adapters.layout import Layout
from model.adapters.placement import device_of
from model.decoding.logit_lens import LogitLens, Readout, join_levels, read_level
from model.errors import TraceError
from model.messages import said
from model.nn.hooks import listen
from model.trace.steps import Vocabulary
from model.trace.trace import Trace

#: What the norm after the last layer is called: Llama and most others, GPT-2 and BLOOM, GPT-NeoX and OPT, Phi, MPT.
FINAL_NORMS: Final = ("norm", "ln_f", "final_layer_norm", "final_layernorm", "norm_f")
#: Largest difference, in nats or units of a logit, between what the last level says and the model.
TOLERANCE: Final = 1e-2
UNKNOWN: Final = said("Final norm and output projection of this model were not found, so its layers cannot be read.")


@torch.inference_mode()
def decoder_lens(
    model: nn.Module, layout: Layout, abilities: Abilities, trace: Trace, vocabulary: Vocabulary, top: int
) -> LogitLens:
    """Read the tokens of a trace once more, and every level with the model's final norm and output projection.

    What edits did to its heads they do again; `top` of the most probable tokens are kept at each level and row.

    Raises:
        TraceError: the model is of another kind, final norm or projection are not known, the trace has no steps or is
            not of this model, or `top` is no number of tokens of the vocabulary.
    """
    if "logit lens" in abilities.lacks:
        raise TraceError(abilities.lacks["logit lens"])
    if not trace.steps or trace.sites != ("decoder.self",):
        raise TraceError("The lens needs a trace of this model with its steps; a shorter text has them.")
    head: Any = model.get_output_embeddings()  # type: ignore[operator]
    size = head.weight.size(0)
    if not 1 <= top <= size or max(trace.target_ids) >= size:
        raise TraceError(
            "The lens can show 1 to {size:,} tokens of this model's own texts, asked for {top}.", size=size, top=top
        )
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


def final_norm(model: nn.Module) -> nn.Module | None:
    """The norm after the last layer of a decoder-only model, by its name; None if there is none of a known name."""
    base: Any = model.base_model
    homes = [module for module in (base, getattr(base, "decoder", None)) if isinstance(module, nn.Module)]
    norms = (getattr(home, name, None) for home in homes for name in FINAL_NORMS)
    return next((module for module in norms if isinstance(module, nn.Module)), None)


def _readouts(model: nn.Module, head: nn.Module, levels: list[Tensor], logits: Tensor) -> list[Readout]:
    """One for each level. The library gives the last one already normed, as a rule."""
    norm, config = final_norm(model), model.config
    if norm is None:
        raise TraceError(UNKNOWN)
    scaling, cap = (getattr(config, name, None) for name in ("logits_scaling", "final_logit_softcapping"))

    def project(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        projected: Tensor = head(rows).float()
        projected = projected / scaling if isinstance(scaling, float | int) else projected
        return (projected / cap).tanh() * cap if isinstance(cap, float | int) else projected

    def normed(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        return project(norm(rows))

    for last in (project, normed):
        if float((last(levels[-1][-1:]) - logits[-1:].float()).abs().max()) < TOLERANCE:
            return [*[normed] * (len(levels) - 1), last]
    raise TraceError(UNKNOWN)
