"""Translate many sentences at once, greedily or by beam search; one step at a time: `model.decoding.session`."""

import itertools
from collections.abc import Callable, Collection, Sequence
from math import inf, isfinite
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.decoding.beam import Candidate, Hypothesis, SentenceBeam
from model.interruption import Progress, no_progress
from model.nn.encoder_decoder import EncoderDecoder, Memory, Padding, SourceIds
from model.nn.masks import key_padding, pad
from model.tokenizer import Tokenizer

EXTRA_LENGTH = 50
"""A translation may be this many tokens longer than its source (§6.1)."""


def length_limits(source_ids: SourceIds, source_padding: Padding) -> Int[Tensor, "batch"]:
    """`EXTRA_LENGTH` tokens more than each source has, its </s> not counted."""
    if source_padding is None:
        source_padding = torch.ones_like(source_ids, dtype=torch.bool)
    return source_padding.sum(1) - 1 + EXTRA_LENGTH


@runtime_checkable
class Prefixes(Protocol):
    """Unfinished texts of any model, one a row, for searching and drawing."""

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Logits of the next token, after reading one more token of every row."""

    def log_probs(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """The same as log-probabilities in float32, by which beams are compared."""

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order, with repetitions."""


class PrefixBatch:
    """Unfinished translations, one a row, each with its memory and the cached keys and values of its prefix.

    `sentences`: which sentence of the source each row translates.
    """

    def __init__(self, model: EncoderDecoder, memory: Memory, source_padding: Padding) -> None:
        self.sentences: Tensor = torch.arange(memory.size(0), device=memory.device)
        self._model, self._memory, self._padding = model, memory, source_padding
        self._cache = model.new_cache()

    def logits(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """Logits of the next token, after reading one more token of every row."""
        hidden = self._model.decode(last[:, None], self._memory, self._padding, cache=self._cache)
        return self._model.projection(hidden[:, -1])  # type: ignore[no-any-return]

    def log_probs(self, last: Int[Tensor, "row"]) -> Float[Tensor, "row vocab"]:
        """The same as log-probabilities in float32."""
        return self.logits(last).float().log_softmax(-1)

    def select(self, rows: Int[Tensor, "kept"]) -> None:
        """Keep these rows, in this order, with repetitions."""
        sentences = self.sentences[rows]
        if torch.equal(sentences, self.sentences):
            self._cache.select_prefixes(rows)
            return
        self._cache.select(rows)
        self._memory = self._memory[rows]
        self._padding = None if self._padding is None else self._padding[rows]
        self.sentences = sentences


#: Told after every step how many are done, and the most there can be; it may end the work by an exception.
StepsDone = Callable[[int, int], None]


@torch.inference_mode()
def greedy_search(
    model: EncoderDecoder, source_ids: SourceIds, source_padding: Padding, memory: Memory | None = None
) -> list[list[int]]:
    """The most probable token at every step, for each sentence of the batch; ids without <s> and </s>.

    A sentence ends at </s>, or at `EXTRA_LENGTH` tokens more than its source has (its </s> not counted). `memory` is
    what the encoder has made of the sources; by default it reads them.
    """
    eos_id = model.config.eos_id
    limits = length_limits(source_ids, source_padding)
    batch = PrefixBatch(model, model.encode(source_ids, source_padding) if memory is None else memory, source_padding)
    last = source_ids.new_full((len(source_ids),), model.config.bos_id)
    results: list[list[int]] = [[] for _ in source_ids]
    for length in itertools.count(1):
        last = batch.logits(last).argmax(-1)
        for sentence, token_id in zip(batch.sentences.tolist(), last.tolist(), strict=True):
            if token_id != eos_id:
                results[sentence].append(token_id)
        unfinished = ((last != eos_id) & (length < limits[batch.sentences])).nonzero()[:, 0]
        if len(unfinished) == 0:
            break
        if len(unfinished) != len(last):
            last = last[unfinished]
            batch.select(unfinished)
    return results


@torch.inference_mode()
def beam_search(
    model: EncoderDecoder, source_ids: SourceIds, source_padding: Padding, *, beam: int, alpha: float = 0.6
) -> list[list[Hypothesis]]:
    """The finished hypotheses of `search_beams` for each sentence of the batch, best first."""
    return [search.finished for search in search_beams(model, source_ids, source_padding, beam=beam, alpha=alpha)]


@torch.inference_mode()
def search_beams(
    model: EncoderDecoder,
    source_ids: SourceIds,
    source_padding: Padding,
    *,
    beam: int,
    alpha: float,
    progress: StepsDone = no_progress,
) -> list[SentenceBeam]:
    """Beam search of this width for each sentence of the batch, with `alpha` the exponent of the length penalty.

    Each step keeps the `beam` best continuations of the living hypotheses, and the best finished ones. A sentence is
    over when no living hypothesis can still beat the worst of `beam` finished ones, or at its length limit.
    """
    limits = length_limits(source_ids, source_padding).tolist()
    searches = [SentenceBeam(limit, beam, alpha) for limit in limits]
    batch = PrefixBatch(model, model.encode(source_ids, source_padding), source_padding)
    last = source_ids.new_full((len(source_ids),), model.config.bos_id)
    return run_searches(searches, batch, last, (model.config.eos_id,), progress)


@torch.inference_mode()
def run_searches(
    begun: Sequence[SentenceBeam],
    batch: Prefixes,
    last: Int[Tensor, "sentence"],
    eos_ids: Collection[int],
    progress: StepsDone = no_progress,
) -> list[SentenceBeam]:
    """Run beam searches of the same width over any model's texts to their end, each from its row's `last` token."""
    searches = list(begun)
    # So many candidates that enough remain when all end tokens are among them.
    count = max(2, 1 + len(eos_ids)) * searches[0].width
    alive = list(range(len(searches)))
    log_probs = torch.zeros(len(alive), device=last.device)
    while alive:
        totals = batch.log_probs(last) + log_probs[:, None]
        for i, candidates in zip(alive, best_candidates(totals, len(alive), count), strict=True):
            searches[i] = searches[i].extended(candidates, eos_ids)
        progress(max(len(search.steps) for search in searches), max(search.limit for search in searches))
        width = len(last) // len(alive)
        first_rows = {i: row * width for row, i in enumerate(alive)}
        alive = [i for i in alive if searches[i].living]
        # All sentences have the same number of rows. Where rules leave a sentence fewer hypotheses, its remaining rows
        # repeat the first at −∞, so that nothing is chosen from them.
        rows = max((len(searches[i].living) for i in alive), default=0)
        kept = []
        for i in alive:
            living = searches[i].living
            spare = [living[0]._replace(log_prob=-inf)] * (rows - len(living))
            kept += [(first_rows[i] + hypothesis.parent, hypothesis) for hypothesis in (*living, *spare)]
        batch.select(last.new_tensor([row for row, _ in kept]))
        last = last.new_tensor([hypothesis.token_ids[-1] for _, hypothesis in kept])
        log_probs = log_probs.new_tensor([hypothesis.log_prob for _, hypothesis in kept])
    return searches


def best_candidates(totals: Float[Tensor, "row vocab"], sentences: int, count: int) -> list[list[Candidate]]:
    """The `count` most probable continuations of each sentence, best first; its rows are adjacent in `totals`.

    Forbidden tokens (−∞) are left out; if all are, the first token is the only candidate, as `argmax` would choose.
    """
    vocab_size = totals.size(1)
    of_sentence = totals.view(sentences, -1)
    best = of_sentence.topk(min(count, of_sentence.size(1)))
    return [
        [
            Candidate(value, *divmod(index, vocab_size))
            for value, index in zip(values, indices, strict=True)
            if isfinite(value)
        ]
        or [Candidate(-inf, 0, 0)]
        for values, indices in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def translate_all(
    model: EncoderDecoder,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    beam: int = 1,
    progress: Progress = no_progress,
    tokens_per_batch: int = 4_000,
) -> list[str]:
    """Translations in the order of the texts.

    Sources of `config.max_length` tokens or more are cut, so that they do not stop the scoring of a whole set. A beam
    of 1 is greedy search; `progress` is called with the number of sentences done since the last call; a batch has at
    most `tokens_per_batch` padded source tokens, each counted once for every beam.
    """
    config = model.config
    sources = [[*ids[: config.max_length - 1], config.eos_id] for ids in tokenizer.encode_batch(texts)]
    order = sorted(range(len(texts)), key=lambda i: len(sources[i]))
    results = [""] * len(texts)
    was_training = model.training
    model.eval()
    while order:
        size = max(1, tokens_per_batch // (beam * len(sources[order[-1]])))
        chosen, order = order[-size:], order[:-size]
        source_ids = pad([sources[i] for i in chosen], config.pad_id).to(model.device)
        source_padding = key_padding(source_ids, config.pad_id)
        if beam > 1:
            outputs = [best.token_ids for best, *_ in beam_search(model, source_ids, source_padding, beam=beam)]
        else:
            outputs = greedy_search(model, source_ids, source_padding)
        for i, output in zip(chosen, outputs, strict=True):
            results[i] = tokenizer.decode(output)
        progress(len(chosen))
    model.train(was_training)
    return results
