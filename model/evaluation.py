"""Translate a set of sentences and score it with sacrebleu."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import sacrebleu
import torch

from model.decoding.search import translate_all
from model.errors import InputTextError
from model.interruption import Progress
from model.nn.encoder_decoder import EncoderDecoder
from model.over_corpus import Partial, Sum, over_corpus, packed, unpacked
from model.pairs import Pair
from model.reader import Writer
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

    def cut(sources: Sequence[str]) -> int:
        return sum(len(ids) >= model.config.max_length for ids in tokenizer.encode_batch(sources))

    def translated(sources: Sequence[str], progress: Progress) -> list[str]:
        return translate_all(model, tokenizer, sources, beam=beam, progress=progress)

    return _scored(pairs, translated, cut, beam, model.device, progress, collect)


def evaluate_writer(
    writer: Writer,
    pairs: Sequence[Pair],
    *,
    beam: int = 1,
    progress: Progress = lambda done: None,
    collect: Callable[[str], object] = lambda translation: None,
) -> Scores:
    """The same of any model that translates, as its `translate_all` does. Raises as that."""

    def cut(sources: Sequence[str]) -> int:
        return sum(_is_refused(writer, source) for source in sources)

    def translated(sources: Sequence[str], progress: Progress) -> list[str]:
        return writer.translate_all(sources, beam=beam, progress=progress)

    return _scored(pairs, translated, cut, beam, writer.device, progress, collect)


def _is_refused(writer: Writer, text: str) -> bool:
    try:
        writer.source_ids(text)
    except InputTextError:
        return True
    return False


def _scored(
    pairs: Sequence[Pair],
    translated: Callable[[Sequence[str], Progress], list[str]],
    cut: Callable[[Sequence[str]], int],
    beam: int,
    device: torch.device,
    progress: Progress,
    collect: Callable[[str], object],
) -> Scores:
    started = time.perf_counter()

    @torch.inference_mode()
    def of_chunk(pairs: Sequence[Pair], progress: Progress) -> Partial:
        sources = [pair.source for pair in pairs]
        return Partial({"cut": cut(sources)}, packed("outputs", translated(sources, progress)))

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
            device=str(device),
        )

    return over_corpus(pairs, Sum(of_chunk=of_chunk, finish=finish), progress, texts_at_once=PAIRS_AT_ONCE)
