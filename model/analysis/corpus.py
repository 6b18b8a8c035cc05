"""Read a corpus with a translator in batches, and hand on what every head computed for each sentence.

Sentences are taken from any iterable, some hundreds at a time, so that a corpus need not fit into memory; what each
sentence leaves behind is handed on and forgotten.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.analysis.data_files import numbered_lines
from model.decoding.prefix_batch import length_limits
from model.decoding.search import greedy_search
from model.errors import DataError, InputTextError
from model.messages import said
from model.nn.attention import attention_weights
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from model.nn.masks import AttentionMask, key_padding, pad
from model.nn.score_functions import ScoreFunction, joined
from model.translator import Translator

Progress = Callable[[int], object]

#: Sentences that are sorted by length and run together.
SENTENCES_AT_ONCE: Final = 256
#: Padded source tokens of a batch.
TOKENS_AT_ONCE: Final = 2_000
MOST_SENTENCES: Final = 10_000

#: 200 everyday sentences that we wrote, one a line.
OWN_CORPUS: Final = Path(__file__).parent / "corpus.txt"


class CorpusSentence(NamedTuple):
    """A sentence, and the translation to read along; None for the model's own, decoded greedily."""

    text: str
    target: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SiteRun:
    """What one attention site computed from, for one sentence: float32, on the CPU; the heads of layer 0 come first."""

    query: Float[Tensor, "layer_and_head row d_k"]
    key: Float[Tensor, "layer_and_head key d_k"]
    value: Float[Tensor, "layer_and_head key d_v"]
    mask: Bool[Tensor, "row key"]
    scale: float
    score: ScoreFunction

    @property
    def masks(self) -> tuple[tuple[slice, Bool[Tensor, "row key"]], ...]:
        """Which heads have which mask: all the same."""
        return ((slice(None), self.mask),)

    def weights(self) -> Float[Tensor, "layer_and_head row key"]:
        """Attention weights, by the model's own equation."""
        mask = self.mask[None]
        return attention_weights(self.query, self.key, scale=self.scale, score=self.score, mask=mask).weights


@runtime_checkable
class HeadsOfSite(Protocol):
    """What the heads of all layers of one attention site computed for one sentence, those of layer 0 first."""

    @property
    def value(self) -> Float[Tensor, "layer_and_head key d_v"] | None:
        """Each head's values; None where the model does not tell."""

    @property
    def masks(self) -> tuple[tuple[slice, Bool[Tensor, "row key"]], ...]:
        """Which heads have which mask: layers with a window see less than others."""

    def weights(self) -> Float[Tensor, "layer_and_head row key"]:
        """Attention weights."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SentenceRun:
    """One sentence as the model read it.

    Attributes:
        number: its position among the sentences that were read, from 0.
        source_ids: what the encoder read, with the token that ends it last; nothing of a decoder alone.
        target_ids: what the decoder read, with the token that begins it first; nothing of an encoder alone.
        end_token: how the token is spelled that ends a sentence; "" where none does.
        sites: of the attention sites that the model has.
    """

    number: int
    text: str
    translation: str
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    end_token: str
    sites: Mapping[str, HeadsOfSite]


@dataclass(frozen=True, eq=False)
class CorpusReading:
    """A corpus that is being read.

    Attributes:
        runs: each sentence once, those of like length together; can be gone through once.
        skipped: reason → sentences left out so far.
    """

    runs: Iterator[SentenceRun]
    skipped: Counter[str]


class _Tokenized(NamedTuple):
    number: int
    text: str
    source_ids: list[int]
    emitted: list[int] | None


def read_text(path: Path, limit: int | None = None) -> list[CorpusSentence]:
    """Read a text file: a sentence a line, or `English TAB German` where the translation is given.

    Blank lines do not count; of `limit`, only the first so many are read.

    Raises:
        DataError: the file cannot be read or holds no sentence.
    """
    fields = (line.split("\t") for _, line in islice(numbered_lines(path), limit))
    sentences = [CorpusSentence(row[0], row[1] if row[1:] and row[1].strip() else None) for row in fields]
    if not sentences:
        raise DataError("{path} holds no sentence; expected one a line.", path=path)
    return sentences


def corpus_digest(sentences: Sequence[CorpusSentence]) -> str:
    """SHA-256 that names exactly these sentences and given translations, in this order."""
    digest = hashlib.sha256()
    for sentence in sentences:
        for text in sentence:
            # The length before the text keeps ("ab", "c") and ("a", "bc") apart.
            encoded = b"" if text is None else text.encode("utf-8", errors="surrogatepass")
            digest.update(f"{-1 if text is None else len(encoded)}:".encode())
            digest.update(encoded)
    return digest.hexdigest()


def read_corpus(
    translator: Translator, sentences: Iterable[CorpusSentence], progress: Progress = lambda done: None
) -> CorpusReading:
    """Translate the sentences that have no translation, and read all with their translations.

    Args:
        translator: the model.
        sentences: at most `MOST_SENTENCES`; those that the model refuses are left out and counted.
        progress: called with the number of sentences done since the last call.

    Raises:
        DataError: while reading: no sentence could be read, or there are too many.
    """
    skipped: Counter[str] = Counter()
    return CorpusReading(_runs(translator, iter(sentences), skipped, progress), skipped)


@torch.inference_mode()
def _runs(
    translator: Translator, sentences: Iterator[CorpusSentence], skipped: Counter[str], progress: Progress
) -> Iterator[SentenceRun]:
    read = 0
    for chunk in iter(lambda: list(islice(sentences, SENTENCES_AT_ONCE)), []):
        if read + sum(skipped.values()) + len(chunk) > MOST_SENTENCES:
            raise DataError(
                "At most {most_sentences:,} sentences can be read at once; take a part of them.",
                most_sentences=MOST_SENTENCES,
            )
        tokenized: list[_Tokenized] = []
        for sentence in chunk:
            try:
                emitted = None if sentence.target is None else translator.target_ids(sentence.target)
                tokenized.append(_Tokenized(read, sentence.text, translator.source_ids(sentence.text), emitted))
            except InputTextError:
                skipped[said("too long or blank for this model")] += 1
                progress(1)
            else:
                read += 1
        for run in chain.from_iterable(_run_batch(translator, batch) for batch in _batches(tokenized)):
            yield run
            progress(1)
    if not read:
        raise DataError("No sentence could be read: all are too long or blank for this model, or there is none.")


def _batches(sentences: list[_Tokenized]) -> Iterator[list[_Tokenized]]:
    """Sentences of like length side by side; those with and without a given translation apart."""
    for given in (False, True):
        left = sorted(
            (sentence for sentence in sentences if (sentence.emitted is not None) == given),
            key=lambda sentence: len(sentence[2]),
        )
        while left:
            size = max(1, TOKENS_AT_ONCE // len(left[-1].source_ids))
            batch, left = left[-size:], left[:-size]
            yield batch


def _run_batch(translator: Translator, batch: Sequence[_Tokenized]) -> Iterator[SentenceRun]:
    model, config, device = translator.model, translator.config, translator.device
    source_ids = pad([sentence.source_ids for sentence in batch], config.pad_id).to(device)
    padding = key_padding(source_ids, config.pad_id)
    given = [sentence.emitted for sentence in batch if sentence.emitted is not None]
    emitted = given or _translate(translator, source_ids, padding)
    targets = [[config.bos_id, *ids[:-1]] for ids in emitted]
    with listen(record={"hook_query", "hook_key", "hook_value"}) as recorded:
        memory = model.encode(source_ids, padding)
        model.decode(pad(targets, config.pad_id).to(device), memory, padding)
    layers = range(config.equal_layers)
    parts = {site: _joined(recorded, site, layers) for site in SITES}
    scores = {site: joined([model.score_of(site, layer) for layer in layers]) for site in SITES}
    tokens = translator.tokenizer.tokens
    for position, (sentence, target, ids) in enumerate(zip(batch, targets, emitted, strict=True)):
        lengths = {"source": len(sentence.source_ids), "target": len(target)}
        yield SentenceRun(
            number=sentence.number,
            text=sentence.text,
            translation=translator.tokenizer.decode(ids),
            source_ids=tuple(sentence.source_ids),
            target_ids=tuple(target),
            source_tokens=tokens(sentence.source_ids),
            target_tokens=tokens(target),
            end_token=tokens([config.eos_id])[0],
            sites={
                site: _site_run(site, parts[site], position, lengths, config.attention_scale, scores[site])
                for site in SITES
            },
        )


def _translate(translator: Translator, source_ids: Tensor, padding: Tensor) -> list[list[int]]:
    """What greedy search emits: </s> last, unless it ran into the limit of length."""
    limits = length_limits(source_ids, padding).tolist()
    emitted = greedy_search(translator.model, source_ids, padding)
    end = [translator.config.eos_id]
    return [ids if len(ids) == limit else [*ids, *end] for ids, limit in zip(emitted, limits, strict=True)]


def _joined(recorded: Mapping[str, list[Tensor]], site: str, layers: range) -> list[Tensor]:
    """Query, key and value of all layers of a site: [batch, layer · head, position, d_k], on the CPU."""
    paths = [site_path(site, layer) for layer in layers]
    return [
        torch.cat([recorded[f"{path}.{hook}"][0] for path in paths], dim=1).float().cpu()
        for hook in ("hook_query", "hook_key", "hook_value")
    ]


def _site_run(
    site: str,
    parts: Sequence[Tensor],
    position: int,
    lengths: Mapping[str, int],
    scale: float,
    score: ScoreFunction,
) -> SiteRun:
    stack, kind = site.split(".")
    rows = lengths["source" if stack == "encoder" else "target"]
    keys = lengths["source"] if kind == "cross" else rows
    query, key, value = (part[position, :, :size] for part, size in zip(parts, (rows, keys, keys), strict=True))
    mask = AttentionMask(num_queries=rows, num_keys=keys, causal=site == "decoder.self").rows()[0]
    return SiteRun(query=query, key=key, value=value, mask=mask, scale=scale, score=score)
