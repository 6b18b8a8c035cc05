"""What the model itself prefers: the German sentence with the right pronoun, or the one with the wrong one.

Knows nothing of heads. Sennrich 2017 ("How Grammatical is Character-level Neural Machine Translation? Assessing MT
Quality with Contrastive Translation Pairs") scores models by such pairs: teacher forced, by their log-probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.blocks import row_blocks
from model.analysis.coreference_data import PronounCase
from model.analysis.german_pronouns import rival_forms, text_of_pieces, translated_pronoun
from model.analysis.words import Span
from model.decoding import greedy_search
from model.masks import pad
from model.transformer import Transformer
from model.translator import Translator


@dataclass(frozen=True)
class FoundPronoun:
    """A pronoun in the model's own translation.

    Attributes:
        text: as it is written there.
        span: its characters in the translation.
        row: the target row that predicts its first token.
    """

    text: str
    span: Span
    row: int


@dataclass(frozen=True)
class PronounChoice:
    """What the model makes of a pronoun.

    Attributes:
        translation: its own, decoded greedily.
        found: the German pronoun, or why it cannot be told which one it is.
        probabilities: of each form that could stand there (er, sie, es …), given what is written before; empty where
            no pronoun was found. They need not sum to 1: other words could follow as well.
    """

    translation: str
    found: FoundPronoun | str
    probabilities: Mapping[str, float]


def find_pronoun(translator: Translator, case: PronounCase, token_ids: Sequence[int]) -> FoundPronoun | str:
    """The German pronoun in a translation given as token ids, or why it cannot be told."""
    written, piece_of = text_of_pieces(translator.tokenizer.tokens(token_ids))
    span = translated_pronoun(case.sentence, case.pronoun, written)
    if isinstance(span, str):
        return span
    # What is joined from pieces begins with a space that the translation does not have.
    margin = len(written) - len(written.lstrip())
    return FoundPronoun(written[slice(*span)], (span[0] - margin, span[1] - margin), piece_of[span[0]])


@torch.inference_mode()
def pronoun_choice(translator: Translator, case: PronounCase) -> PronounChoice:
    """Translate one sentence greedily, find its pronoun, and weigh er, sie and es in its place.

    Raises:
        InputTextError: the sentence is blank or too long.
    """
    model = translator.model
    source_ids = torch.tensor([translator.source_ids(case.sentence)], device=model.device)
    (emitted,) = greedy_search(model, source_ids, None)
    found = find_pronoun(translator, case, emitted)
    translation = translator.tokenizer.decode(emitted)
    if isinstance(found, str):
        return PronounChoice(translation, found, MappingProxyType({}))
    forms = rival_forms(found.text, case.pronoun_text)
    rivals = [translator.tokenizer.encode(form) for form in forms]
    prefix = emitted[: found.row]
    # A space that is a token of its own belongs to the word after it, and so to each of its rivals.
    while prefix and translator.tokenizer.tokens(prefix[-1:]) == ("▁",):
        prefix.pop()
    targets = [[*prefix, *rival] for rival in rivals]
    memory = model.encode(source_ids).expand(len(forms), -1, -1)
    log_probs = sequence_log_probs(model, memory, None, targets, first=len(prefix))
    probabilities = dict(zip(forms, log_probs.exp().tolist(), strict=True))
    return PronounChoice(translation, found, MappingProxyType(probabilities))


def contrast_margins(
    model: Transformer,
    choices: Sequence[tuple[Sequence[int], Sequence[int]]],
    memory: Float[Tensor, "row source d_model"],
    source_padding: Bool[Tensor, "row source"],
) -> Float[Tensor, "row"]:
    """log P(right | sentence) − log P(wrong | sentence), in nats.

    Args:
        model: the Transformer.
        choices: token ids of both German sentences, </s> last.
        memory, source_padding: of the English sentences.
    """
    targets = [target for choice in choices for target in choice]
    twice = torch.arange(len(choices), device=memory.device).repeat_interleave(2)
    log_probs = sequence_log_probs(model, memory[twice], source_padding[twice], targets, first=0)
    return log_probs[0::2] - log_probs[1::2]


def sequence_log_probs(
    model: Transformer,
    memory: Float[Tensor, "row source d_model"],
    source_padding: Bool[Tensor, "row source"] | None,
    targets: Sequence[Sequence[int]],
    *,
    first: int,
) -> Float[Tensor, "row"]:
    """Log-probability of each target's tokens from place `first` on, in nats, on the CPU.

    Args:
        model: the Transformer.
        memory, source_padding: what each target is the translation of.
        targets: the tokens emitted, without <s>.
        first: place of the first token that counts.
    """
    config = model.config
    emitted = pad(targets, config.pad_id).to(memory.device)
    begin = torch.full_like(emitted[:, :1], config.bos_id)
    hidden = model.decode(torch.cat((begin, emitted[:, :-1]), 1), memory, source_padding)
    lengths = torch.tensor([len(target) for target in targets], device=memory.device)
    places = torch.arange(emitted.size(1), device=memory.device)
    counted = (places >= first) & (places < lengths[:, None])
    blocks = zip(*(row_blocks(rows[counted], config.vocab_size) for rows in (hidden, emitted)), strict=True)
    chosen = torch.cat(
        [model.projection(rows).float().log_softmax(-1).gather(1, ids[:, None])[:, 0] for rows, ids in blocks]
    )
    of_row = counted.nonzero()[:, 0]
    return torch.zeros(len(targets), device=memory.device).index_add_(0, of_row, chosen).cpu()
