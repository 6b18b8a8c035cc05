"""Read a sentence with its words in reverse order, to see what of a model depends on order (§3.5)."""

from dataclasses import dataclass

import torch

from model.analysis.ablations.outputs import backwards
from model.decoding.search import greedy_search
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
