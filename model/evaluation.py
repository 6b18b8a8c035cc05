"""Translate a set of sentences and score it with sacrebleu."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import sacrebleu
import torch

from model.decoding.search import beam_search, greedy_search
from model.interruption import Progress
from model.nn.encoder_decoder import EncoderDecoder
from model.nn.masks import key_padding, pad
from model.over_corpus import Partial, Sum, over_corpus, packed, unpacked
from model.pairs import Pair
from model.tokenizer import Tokenizer

#: Pairs among which those of like length are translated side by side.
PAIRS_AT_ONCE: Final = 4_096


@dataclass(frozen=True)
class Scores:
    """Corpus scores of a set: BLEU and chrF from 0 to 100, and how they were made."""

    bleu: float
    chrf: float
    beam: int  #: its width; 1 is greedy
    signature: str
    #: sentences, cut: how many were scored, and of how many of them the end was not read, for they are too long.
    sentences: int
    cut: int
    seconds: float
    device: str


def translate_all(
    model: EncoderDecoder,
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    beam: int = 1,
    progress: Progress = lambda done: None,
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


def evaluate(
    model: EncoderDecoder,
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    *,
    beam: int = 1,
    progress: Progress = lambda done: None,
    collect: Callable[[str], object] = lambda translation: None,
) -> Scores:
    """Translate the sources and score against the targets (sacrebleu's own tokenization, case kept).

    `collect` is given each translation at the end, in the order of the pairs.
    """
    started = time.perf_counter()

    @torch.inference_mode()
    def of_chunk(pairs: Sequence[Pair], progress: Progress) -> Partial:
        sources = [pair.source for pair in pairs]
        cut = sum(len(ids) >= model.config.max_length for ids in tokenizer.encode_batch(sources))
        outputs = translate_all(model, tokenizer, sources, beam=beam, progress=progress)
        return Partial({"cut": cut}, packed("outputs", outputs))

    def finish(total: Partial) -> Scores:
        seconds = time.perf_counter() - started
        outputs = unpacked("outputs", total.rows)
        for output in outputs:
            collect(output)
        references = [[pair.target for pair in pairs]]
        bleu, chrf = sacrebleu.BLEU(), sacrebleu.CHRF()
        return Scores(
            bleu=round(bleu.corpus_score(outputs, references).score, 2),
            chrf=round(chrf.corpus_score(outputs, references).score, 2),
            beam=beam,
            signature=str(bleu.get_signature()),
            sentences=len(pairs),
            cut=int(total.sums["cut"]),
            seconds=round(seconds, 2),
            device=str(model.device),
        )

    return over_corpus(pairs, Sum(of_chunk=of_chunk, finish=finish), progress, texts_at_once=PAIRS_AT_ONCE)
