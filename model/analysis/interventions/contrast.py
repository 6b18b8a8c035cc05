"""Measure which of two translations a model prefers, for many sentences at once.

Contrastive evaluation (Sennrich 2017, "How Grammatical is Character-level Neural Machine Translation? Assessing MT
Quality with Contrastive Translation Pairs"): both translations are read along, and

    log-odds = log p(right | source) − log p(wrong | source), in nats.

Up to the first token in which the two differ, both have the same log-probability, which cancels out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.interventions.log_probs import log_probs_of
from model.errors import DataError
from model.nn.masks import key_padding, pad
from model.nn.transformer import Transformer
from model.translator import Translator

Measure = Literal["sentence", "token"]
"""What is compared: the whole translations, or only the first token in which they differ (given what is before it)."""

#: Padded tokens, of source and targets, that are run through the model at once.
TOKENS_AT_ONCE: Final = 4_000


class ContrastCase(NamedTuple):
    """A source sentence, its right translation, and one that differs in the choice, say in a pronoun."""

    source: str
    right: str
    wrong: str


class ContrastIds(NamedTuple):
    """A case as token ids, each ending with </s>, and the first position at which its translations differ."""

    source: list[int]
    right: list[int]
    wrong: list[int]
    differs_at: int

    @property
    def length(self) -> int:
        """Tokens to run, the shorter translation as long as the other."""
        return len(self.source) + 2 * max(len(self.right), len(self.wrong))


@dataclass(frozen=True, eq=False, kw_only=True)
class ContrastBatch:
    """Some cases side by side, padded.

    Attributes:
        source_ids: what the encoder reads.
        source_padding: True at real tokens; None if all are.
        target_ids: what the decoder reads: all right translations, then all wrong ones.
        emitted: the token that follows each of these.
        counted: True where its log-probability counts.
    """

    source_ids: Int[Tensor, "case source"]
    source_padding: Bool[Tensor, "case source"] | None
    target_ids: Int[Tensor, "both_cases target"]
    emitted: Int[Tensor, "both_cases target"]
    counted: Bool[Tensor, "both_cases target"]

    @property
    def num_cases(self) -> int:
        """How many cases."""
        return self.source_ids.size(0)

    def encode(self, model: Transformer, variants: int = 1) -> Float[Tensor, "variant_and_case source d_model"]:
        """Read every source `variants` times: all cases once, then all once more."""
        padding = None if self.source_padding is None else self.source_padding.repeat(variants, 1)
        return model.encode(self.source_ids.repeat(variants, 1), padding)

    def log_odds(
        self, model: Transformer, memory: Float[Tensor, "variant_and_case source d_model"]
    ) -> Float[Tensor, "variant case"]:
        """Read both translations along, once for each variant of what the encoder made of the cases."""
        variants = memory.size(0) // self.num_cases
        times = 2 * variants
        padding = None if self.source_padding is None else self.source_padding.repeat(times, 1)
        of_both = memory.view(variants, 1, self.num_cases, *memory.shape[1:]).expand(-1, 2, -1, -1, -1).flatten(0, 2)
        hidden = model.decode(self.target_ids.repeat(variants, 1), of_both, padding)
        counted = self.counted.repeat(variants, 1)
        log_probs = log_probs_of(model, hidden[counted], self.emitted.repeat(variants, 1)[counted])
        totals = torch.zeros(len(counted), device=log_probs.device)
        totals = totals.index_add(0, counted.nonzero()[:, 0], log_probs)
        right, wrong = totals.view(variants, 2, self.num_cases).unbind(1)
        return right - wrong


def contrast_ids(translator: Translator, case: ContrastCase, measure: Measure = "sentence") -> ContrastIds:
    """A case as token ids; by "token", translations end where they first differ.

    Raises:
        InputTextError: a text is blank or too long.
        DataError: both translations are the same to the model.
    """
    source, (right, wrong) = translator.source_ids(case.source), map(translator.target_ids, case[1:])
    differs_at = first_difference(right, wrong)
    if differs_at is None:
        raise DataError(
            "expected a right and a wrong translation that differ, got {right!r} twice for {source!r}.",
            right=case.right,
            source=case.source,
        )
    if measure == "token":
        right, wrong = right[: differs_at + 1], wrong[: differs_at + 1]
    return ContrastIds(source, right, wrong, differs_at)


def first_difference(right: Sequence[int], wrong: Sequence[int]) -> int | None:
    """The first position at which two sequences of token ids differ; None if one begins with all of the other."""
    return next((position for position, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b), None)


def contrast_batches(
    translator: Translator, cases: Sequence[ContrastIds], variants: int = 1
) -> Iterator[tuple[list[int], ContrastBatch]]:
    """Batches of cases of like length, each with the numbers of its cases; each is read `variants` times at once."""
    order = sorted(range(len(cases)), key=lambda number: cases[number].length)
    while order:
        size = max(1, TOKENS_AT_ONCE // (variants * cases[order[-1]].length))
        chosen, order = order[-size:], order[:-size]
        yield chosen, make_batch(translator, [cases[number] for number in chosen])


def make_batch(translator: Translator, cases: Sequence[ContrastIds]) -> ContrastBatch:
    """Cases side by side on the model's device."""
    config, device = translator.config, translator.device
    source_ids = pad([case.source for case in cases], config.pad_id).to(device)
    source_padding = key_padding(source_ids, config.pad_id)
    targets = [*(case.right for case in cases), *(case.wrong for case in cases)]
    emitted = pad(targets, config.pad_id).to(device)
    begin = torch.full_like(emitted[:, :1], config.bos_id)
    first = torch.tensor([case.differs_at for case in cases], device=device).repeat(2)
    positions = torch.arange(emitted.size(1), device=device)
    return ContrastBatch(
        source_ids=source_ids,
        source_padding=None if bool(source_padding.all()) else source_padding,
        target_ids=torch.cat((begin, emitted[:, :-1]), dim=1),
        emitted=emitted,
        counted=(positions >= first[:, None]) & key_padding(emitted, config.pad_id),
    )
