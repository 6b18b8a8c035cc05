"""Read a sentence with its words in reverse order, to see what of a model depends on order (§3.5)."""

from dataclasses import dataclass

import torch

from model.analysis.ablations.outputs import backwards
from model.decoding.search import greedy_search
from model.errors import TraceError
from model.sequence_translator import SequenceTranslator
from model.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class ReadBackwards:
    """What a model makes of a sentence whose words come in reverse order.

    Attributes:
        tokens: as they were read, the end of the sentence last.
        difference: the largest difference of any number that the encoder puts out for a token here and in the right
            order; nothing but rounding where order does not matter.
        largest: the largest of these numbers in the right order, to compare that with.
        translation: of the reversed sentence, decoded greedily.
    """

    tokens: tuple[str, ...]
    difference: float
    largest: float
    translation: str


@torch.inference_mode()
def read_backwards(translator: SequenceTranslator, trace: Trace) -> ReadBackwards:
    """Encode and translate the source of a trace with its words in reverse order."""
    order = list(backwards(trace.source_tokens, trace.special_tokens))
    forwards = torch.tensor([trace.source_ids], device=translator.device)
    reverse = forwards[:, order]
    own, other = (translator.model.encode(ids)[0].float() for ids in (forwards, reverse))
    return ReadBackwards(
        tokens=tuple(trace.source_tokens[position] for position in order),
        difference=float((own[order] - other).abs().max()),
        largest=float(own.abs().max()),
        translation=translator.tokenizer.decode(greedy_search(translator.model, reverse, None)[0]),
    )


@dataclass(frozen=True, slots=True)
class SwappedTokens:
    """What a decoder makes of a translation in which two earlier tokens have changed places.

    Attributes:
        tokens: as read, after the swap.
        differences: after each layer, the largest difference of any number of the last row, which reads the same
            token after the same set of tokens.
    """

    tokens: tuple[str, ...]
    differences: tuple[float, ...]


@torch.inference_mode()
def swap_earlier_tokens(translator: SequenceTranslator, trace: Trace, first: int, second: int) -> SwappedTokens:
    """Read the tokens that a trace wrote with two of them swapped; rows count from 0, <s> is the first.

    Raises a TraceError if a row is not between <s> and the last one.
    """
    count = len(trace.target_ids)
    if not 0 < min(first, second) < max(first, second) < count - 1:
        message = "Two rows from 1 to {count} can be swapped, got {first} and {second}."
        raise TraceError(message, count=count - 2, first=first, second=second)
    order = list(range(count))
    order[first], order[second] = second, first
    written = [trace.target_ids[row] for row in order[1:]] + [trace.steps[-1].token_id]
    other = translator.trace_tokens(trace.text, written)
    names = [name for name in trace.recorded if name.startswith("decoder.layers") and name.endswith(".hook_output")]
    return SwappedTokens(
        tokens=other.target_tokens,
        differences=tuple(
            float((trace.recorded[name][-1].float() - other.recorded[name][-1].float()).abs().max())
            for name in sorted(names, key=lambda name: int(name.split(".")[2]))
        ),
    )
