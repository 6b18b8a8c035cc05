"""Translate a set of sentences and score it with sacrebleu."""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sacrebleu
import torch

from model.decoding.search import translate_all
from model.errors import InputTextError
from model.interruption import Progress
from model.nn.encoder_decoder import EncoderDecoder
from model.over_corpus import ByModels, OfChunk, Partial, Sum, over_corpus, packed, unpacked
from model.pairs import Pair
from model.reader import Writer
from model.tokenizer import Tokenizer

#: Pairs among which those of like length are translated side by side.
PAIRS_AT_ONCE: Final = 1_024


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
    seconds: float  #: of translating
    device: str


def evaluate(
    model: EncoderDecoder,
    tokenizer: Tokenizer,
    pairs: Sequence[Pair],
    *,
    collect: Callable[[str], object] = lambda translation: None,
) -> Scores:
    """Translate the sources, greedily, and score against the targets (sacrebleu's own tokenization, case kept).

    `collect` is given each translation at the end, in the order of the pairs.
    """

    def cut(sources: Sequence[str]) -> int:
        return sum(len(ids) >= model.config.max_length for ids in tokenizer.encode_batch(sources))

    def translated(sources: Sequence[str], progress: Progress) -> list[str]:
        return translate_all(model, tokenizer, sources, progress=progress)

    def of_chunk(pairs: Sequence[Pair], progress: Progress) -> Partial:
        return _translated(pairs, progress, translated, cut)

    return _scored(pairs, of_chunk, 1, model.device, lambda done: None, collect)


def evaluate_writer(
    writer: Writer,
    pairs: Sequence[Pair],
    *,
    beam: int = 1,
    progress: Progress = lambda done: None,
    collect: Callable[[str], object] = lambda translation: None,
    unfinished: Path | None = None,
) -> Scores:
    """The same of any model that translates, as its `translate_all` does. Raises as that.

    `unfinished` is that of `over_corpus`: for a model as it is, no head switched off.
    """
    of_chunk = ByModels(functools.partial(_of_chunk, beam=beam), (writer,))
    name = lambda: " ".join(("evaluation 1", writer.weights_digest, writer.key, str(beam)))  # noqa: E731
    return _scored(pairs, of_chunk, beam, writer.device, progress, collect, name, unfinished)


def _of_chunk(writer: Writer, pairs: Sequence[Pair], progress: Progress, *, beam: int) -> Partial:
    def cut(sources: Sequence[str]) -> int:
        return sum(_is_refused(writer, source) for source in sources)

    def translated(sources: Sequence[str], progress: Progress) -> list[str]:
        return writer.translate_all(sources, beam=beam, progress=progress)

    return _translated(pairs, progress, translated, cut)


def _is_refused(writer: Writer, text: str) -> bool:
    try:
        writer.source_ids(text)
    except InputTextError:
        return True
    return False


@torch.inference_mode()
def _translated(
    pairs: Sequence[Pair],
    progress: Progress,
    translated: Callable[[Sequence[str], Progress], list[str]],
    cut: Callable[[Sequence[str]], int],
) -> Partial:
    started, sources = time.perf_counter(), [pair.source for pair in pairs]
    outputs = packed("outputs", translated(sources, progress))
    return Partial({"cut": cut(sources), "seconds": time.perf_counter() - started}, outputs)


def _scored(
    pairs: Sequence[Pair],
    of_chunk: OfChunk,
    beam: int,
    device: torch.device,
    progress: Progress,
    collect: Callable[[str], object],
    name: Callable[[], str] = str,
    unfinished: Path | None = None,
) -> Scores:
    def finish(total: Partial) -> Scores:
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
            seconds=round(float(total.sums["seconds"]), 2),
            device=str(device),
        )

    summed = Sum(of_chunk=of_chunk, finish=finish, name=name)
    return over_corpus(pairs, summed, progress, unfinished, texts_at_once=PAIRS_AT_ONCE)
