"""The logit lens: what each decoder layer would predict if it were the last.

nostalgebraist 2020 ("interpreting GPT: the logit lens"): every layer adds to the same residual stream, so its output
can be read with the model's own final norm (where it has one: pre-norm) and output projection.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from model.errors import TraceError
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.transformer import Transformer
from model.trace.steps import DecodingStep, Spread, Vocabulary, spread_of
from model.trace.trace import Trace

Readout = Callable[[Float[Tensor, "row d_model"]], Float[Tensor, "row vocab"]]

#: 16 MiB in float32; vocabulary × rows × layers of a long sentence would be hundreds of times as much.
LOGITS_AT_ONCE: Final = 1 << 22


def logit_blocks(rows: Shaped[Tensor, "row *rest"], vocab_size: int) -> tuple[Shaped[Tensor, "_block *rest"], ...]:
    """The rows in order, cut so that a block has at most `LOGITS_AT_ONCE` logits, or is a single row."""
    return torch.split(rows, max(1, LOGITS_AT_ONCE // vocab_size))


def log_probs_of(
    model: EncoderDecoder, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"]
) -> Float[Tensor, "row"]:
    """log softmax(hidden · projection) at the chosen token of each row of the decoder's output, in nats, float32."""
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat(
        [model.projection(rows).float().log_softmax(-1).gather(1, ids[:, None])[:, 0] for rows, ids in blocks]
    )


def logits_of(
    model: EncoderDecoder, hidden: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row k"]
) -> Float[Tensor, "row k"]:
    """The logits of k chosen tokens in each row of the decoder's output, float32."""
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (hidden, chosen)), strict=True)
    return torch.cat([model.projection(rows).float().gather(1, ids) for rows, ids in blocks])


class LensRows(NamedTuple):
    """What rows of the residual stream predict; log-probabilities and entropy in nats."""

    token_ids: Int[Tensor, "row top"]
    log_probs: Float[Tensor, "row top"]
    chosen_log_probs: Float[Tensor, "row"]
    chosen_ranks: Int[Tensor, "row"]
    entropy: Float[Tensor, "row"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LogitLens:
    """What every decoder layer would predict at every target row. All tensors are on the CPU.

    Level 0 is what the first layer reads (embedding plus position; with shared embeddings mostly the token itself),
    level n the output of layer n − 1; the last level is the model's own prediction.
    """

    #: chosen_ids, chosen_tokens: per row, the token that really follows.
    chosen_ids: tuple[int, ...]
    chosen_tokens: tuple[str, ...]
    #: token_ids, tokens: the most probable tokens, best first.
    token_ids: Int[Tensor, "level row top"]
    tokens: tuple[tuple[tuple[str, ...], ...], ...]
    probabilities: Float[Tensor, "level row top"]  #: of these tokens
    chosen_probabilities: Float[Tensor, "level row"]  #: of the token that really follows
    #: its rank, 1 for the most probable; equally probable tokens share the better rank.
    chosen_ranks: Int[Tensor, "level row"]
    entropy: Float[Tensor, "level row"]  #: of the whole distribution, in nats


def logit_lens(trace: Trace, model: Transformer, tokenizer: Vocabulary, top: int) -> LogitLens:
    """Read every level of a trace's decoder with the model's final norm and output projection.

    Of each level and row the `top` most probable tokens are kept. Raises a TraceError if the trace is not of this
    model, or `top` is no number of tokens of its vocabulary.
    """
    if not 1 <= top <= model.config.vocab_size:
        message = "The lens can show 1 to {vocab_size:,} tokens, got {top}."
        raise TraceError(message, vocab_size=model.config.vocab_size, top=top)
    levels, readout, vocab_size = residual_levels(trace, model), model.logits_at_last_hook, model.config.vocab_size
    chosen = torch.tensor([step.token_id for step in trace.steps], device=model.device)

    with torch.inference_mode():
        read = [read_level(level.to(model.device), chosen, readout, top, vocab_size=vocab_size) for level in levels]
    return join_levels(read, trace.steps, tokenizer)


def join_levels(levels: Sequence[LensRows], steps: Sequence[DecodingStep], tokenizer: Vocabulary) -> LogitLens:
    """The lens of a whole decoder, from the rows of each of its levels."""
    token_ids, log_probs, chosen_log_probs, ranks, entropy = (
        torch.stack(part).cpu() for part in zip(*levels, strict=True)
    )
    return LogitLens(
        chosen_ids=tuple(step.token_id for step in steps),
        chosen_tokens=tuple(step.token for step in steps),
        token_ids=token_ids,
        tokens=tuple(tuple(tokenizer.tokens(row) for row in level) for level in token_ids.tolist()),
        probabilities=log_probs.exp(),
        chosen_probabilities=chosen_log_probs.exp(),
        chosen_ranks=ranks,
        entropy=entropy,
    )


def spread(trace: Trace, model: EncoderDecoder) -> Spread:
    """The distribution behind every step of a trace of this model, read off what its decoder put out.

    Raises a TraceError if the trace is not of this model.
    """
    states = _recorded_rows(trace, model, (model.last_hook,))[0].to(model.device)
    chosen = torch.tensor([step.token_id for step in trace.steps], device=model.device)
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (states, chosen)), strict=True)
    with torch.inference_mode():
        log_probs = ((model.logits_at_last_hook(block).float().log_softmax(-1), written) for block, written in blocks)
        parts = [vars(spread_of(of_block, written.tolist())) for of_block, written in log_probs]
    return Spread(**{name: torch.cat([part[name] for part in parts]) for name in parts[0]})


def residual_levels(trace: Trace, model: Transformer) -> list[Float[Tensor, "row d_model"]]:
    """What the first decoder layer read, then what each one put out, before any final norm.

    Raises a TraceError if the trace is not of this model.
    """
    outputs = [f"decoder.layers.{layer}.hook_output" for layer in range(model.config.decoder_layers)]
    embedding, positional = (f"decoder.embedding.hook_{part}" for part in ("embedding", "positional"))
    begins = [embedding] if model.config.positions == "none" else [embedding, positional]
    read = torch.stack(_recorded_rows(trace, model, begins)).sum(0)
    return [read, *_recorded_rows(trace, model, outputs)]


def _recorded_rows(trace: Trace, model: EncoderDecoder, names: Sequence[str]) -> list[Float[Tensor, "row d_model"]]:
    shape = (len(trace.steps), model.config.d_model)
    for name in names:
        actual = tuple(trace.recorded[name].shape) if name in trace.recorded else None
        if actual != shape:
            message = (
                "This trace was not made by this model: {name} should be {shape}, is {actual}. Trace the sentence "
                "again with the checkpoint that is open."
            )
            raise TraceError(message, name=name, shape=shape, actual=actual or "missing")
    if not all(0 <= step.token_id < model.config.vocab_size for step in trace.steps):
        raise TraceError("This trace was not made by this model: its tokens are not of this vocabulary.")
    return [trace.recorded[name] for name in names]


def read_rows(states: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"], readout: Readout, top: int) -> LensRows:
    """softmax(W · norm(x)) of each row x of the residual stream, reduced to what is kept of it.

    `chosen` is the token that really follows each, `readout` the final norm and output projection.
    """
    log_probs = readout(states).float().log_softmax(-1)
    best = log_probs.topk(top)
    of_chosen = log_probs.gather(1, chosen[:, None])
    return LensRows(
        token_ids=best.indices,
        log_probs=best.values,
        chosen_log_probs=of_chosen[:, 0],
        chosen_ranks=(log_probs > of_chosen).sum(-1) + 1,
        # 0 · log 0 counts as 0, also where a logit is −∞.
        entropy=torch.special.entr(log_probs.exp()).sum(-1).clamp_min(0.0),
    )


def read_level(
    states: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"], readout: Readout, top: int, *, vocab_size: int
) -> LensRows:
    """`read_rows`, so many rows at a time that their logits fit into memory."""
    blocks = zip(*(logit_blocks(rows, vocab_size) for rows in (states, chosen)), strict=True)
    parts = [read_rows(block, follows, readout, top) for block, follows in blocks]
    return LensRows(*(torch.cat(part) for part in zip(*parts, strict=True)))
