"""Tell in numbers what is wrong with a small model's translation, and what it makes of other words and orders."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

import sacrebleu
import torch

from model.analysis.corpus import OWN_CORPUS, read_text
from model.decoding.search import greedy_search
from model.errors import TraceError
from model.sequence_translator import SequenceTranslator
from model.trace.axes import whole_words
from model.trace.trace import Trace

#: So many sentences of our own corpus are translated besides.
OTHERS: Final = 20
#: A translation of at most so many different words is stunted.
FEW_WORDS: Final = 2
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True)
class SharedWords:
    """How many words of one text another has."""

    total: int  #: words of the first
    shared: int  #: of these, how many the second has too, each as often as both have it
    in_order: int  #: of these, the most that come in the same order in both


@dataclass(frozen=True)
class Repetition:
    """The longest run of one token in what was written, and how often it comes in a row."""

    token: str
    count: int


def likeness(reference: str, translation: str) -> float:
    """chrF of a translation against another one, 0 to 100."""
    return float(sacrebleu.CHRF().sentence_score(translation, [reference]).score)


def shared_words(first: str, second: str) -> SharedWords:
    """How many words of the first text the second has, in any order and in the same."""
    ours, theirs = _words(first), _words(second)
    common = Counter(ours) & Counter(theirs)
    return SharedWords(len(ours), common.total(), _longest_common(ours, theirs))


def longest_repetition(trace: Trace) -> Repetition:
    """The longest run of one token in what a trace wrote."""
    runs = [(token, len(list(run))) for token, run in groupby(step.token for step in trace.steps)]
    return Repetition(*max(runs, key=lambda run: run[1], default=("", 0)))


def has_ended(trace: Trace) -> bool:
    """Whether the model ended its translation itself, before the limit ended it."""
    return bool(trace.steps) and trace.steps[-1].token in trace.special_tokens


def backwards(tokens: Sequence[str], special: frozenset[str]) -> tuple[int, ...]:
    """The positions of a sentence's tokens when its words come in reverse order, the end of the sentence last."""
    words = [group for group in whole_words(tokens, special).groups if tokens[group[0]] not in special]
    ends = [position for position, token in enumerate(tokens) if token in special]
    return (*(position for word in reversed(words) for position in word), *ends)


@torch.inference_mode()
def try_backwards(translator: SequenceTranslator, trace: Trace) -> bool:
    """Whether the words of a trace's source in reverse order become the very same translation."""
    order = backwards(trace.source_tokens, trace.special_tokens)
    if order == tuple(range(len(order))):
        return False
    source = torch.tensor([[trace.source_ids[position] for position in order]], device=translator.device)
    return translator.tokenizer.decode(greedy_search(translator.model, source, None)[0]) == trace.translation


@torch.inference_mode()
def count_stunted(translator: SequenceTranslator) -> int:
    """Of `OTHERS` sentences of our own corpus, how many become at most `FEW_WORDS` different words."""
    texts = [sentence.text for sentence in read_text(OWN_CORPUS, OTHERS)]
    written = translator.translate_all(texts)
    return sum(len(set(_words(translation))) <= FEW_WORDS for translation in written)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest sequence that can be read off both by leaving words out."""
    above = [0] * (len(second) + 1)
    for word in first:
        row = [0]
        for other, (diagonal, over) in zip(second, pairwise(above), strict=True):
            row.append(diagonal + 1 if word == other else max(over, row[-1]))
        above = row
    return above[-1]


@dataclass(frozen=True, slots=True)
class ReadBackwards:
    """What a model makes of a sentence whose words come in reverse order."""

    tokens: tuple[str, ...]  #: as they were read, the end of the sentence last
    #: the largest difference of any number that the encoder puts out for a token here and in the right order; nothing
    #: but rounding where order does not matter.
    difference: float
    largest: float  #: the largest of these numbers in the right order, to compare that with
    translation: str  #: of the reversed sentence, decoded greedily


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
    """What a decoder makes of a translation in which two earlier tokens have changed places."""

    tokens: tuple[str, ...]  #: as read, after the swap
    #: after each layer, the largest difference of any number of the last row, which reads the same token after the same
    #: set of tokens.
    differences: tuple[float, ...]


@torch.inference_mode()
def swap_earlier_tokens(translator: SequenceTranslator, trace: Trace, first: int, second: int) -> SwappedTokens:
    """Read the tokens that a trace wrote with two of them swapped; rows count from 0, <s> is the first.

    Raises a TraceError if a row is not between <s> and the last one.
    """
    count = len(trace.target_ids)
    if not 0 < min(first, second) < max(first, second) < count - 1:
        message = "Two of the rows 1 to {count} can be swapped, got {first} and {second}."
        raise TraceError(message, count=count - 2, first=first, second=second)
    read = list(trace.target_ids)
    read[first], read[second] = read[second], read[first]
    *_, last = trace.steps
    other = translator.trace_tokens(trace.text, [*read[1:], last.token_id])
    names = [name for name in trace.recorded if name.startswith("decoder.layers") and name.endswith(".hook_output")]
    return SwappedTokens(
        tokens=other.target_tokens,
        differences=tuple(
            float((trace.recorded[name][-1].float() - other.recorded[name][-1].float()).abs().max())
            for name in sorted(names, key=lambda name: int(name.split(".")[2]))
        ),
    )
