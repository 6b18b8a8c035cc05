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
from model.parts.ours import recorded_rows
from model.parts.parts import Parts
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


@torch.inference_mode()
def logit_lens(
    parts: Parts, trace: Trace, tokenizer: Vocabulary, top: int, chosen_steps: slice = slice(None)
) -> LogitLens:
    """Read every level of a trace's decoder with the model's final norm (where it has one) and output projection.

    Of each level and row the `top` most probable tokens are kept, of the chosen steps alone. Raises a TraceError if the
    trace has no steps or is not of this model, the model's parts are not known, or `top` is no number of tokens of its
    vocabulary.
    """
    if not trace.steps:
        raise TraceError(
            "The logit lens needs the decoding steps, which are not kept for such a long text: shorten it."
        )
    size = parts.num_tokens
    if not all(0 <= token_id < size for token_id in (*trace.target_ids, *(step.token_id for step in trace.steps))):
        raise TraceError("This trace was not made by this model: its tokens are not from this vocabulary.")
    if not 1 <= top <= size:
        raise TraceError("The lens can show 1 to {vocab_size:,} tokens, got {top}.", vocab_size=size, top=top)
    # Of what was written, a trace may have the steps alone: the last of its rows.
    levels, norm = parts.run(trace).all_levels("decoder")[:, -len(trace.steps) :], parts.final_norm("decoder")
    levels, steps = levels[:, chosen_steps], trace.steps[chosen_steps]

    def readout(rows: Float[Tensor, "row d_model"]) -> Float[Tensor, "row vocab"]:
        return parts.logits(rows if norm is None else norm(rows))

    chosen = torch.tensor([step.token_id for step in steps])
    read = [read_level(level, chosen, readout, top, vocab_size=size) for level in levels]
    return join_levels(read, steps, tokenizer)


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
    shape = (len(trace.steps), model.config.d_model)
    states = recorded_rows(trace, (model.last_hook,), shape)[0].to(model.device)
    chosen = torch.tensor([step.token_id for step in trace.steps], device=model.device)
    blocks = zip(*(logit_blocks(rows, model.config.vocab_size) for rows in (states, chosen)), strict=True)
    with torch.inference_mode():
        log_probs = ((model.logits_at_last_hook(block).float().log_softmax(-1), written) for block, written in blocks)
        return Spread.joined(spread_of(of_block, written.tolist()) for of_block, written in log_probs)


def read_rows(states: Float[Tensor, "row d_model"], chosen: Int[Tensor, "row"], readout: Readout, top: int) -> LensRows:
    """softmax(W · norm(x)) of each row x of the residual stream, reduced to what is kept of it.

    `chosen` is the token that really follows each, `readout` the final norm and output projection.
    """
    log_probs = readout(states).log_softmax(-1)
    chosen = chosen.to(log_probs.device)
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
