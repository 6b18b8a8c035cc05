"""Sums over a corpus: the same however it is cut, in whichever order its chunks come, and after a kill or a stop."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model import Translator
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.coreference.case_files import PronounCases, curated_cases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.corpus import CorpusSentence, read_text
from model.analysis.interventions.head_effects import estimate_effects, mean_outputs, measure_effects, remove_heads
from model.analysis.metrics.alignment import read_alignments, score_alignment
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.two_models import head_distances
from model.errors import CancelledError
from model.evaluation import evaluate
from model.interruption import Kept, Progress, no_progress
from model.opening import as_writer, open_reader
from model.over_corpus import Chunk, OfChunk, Partial, Sum, computed_by, over_corpus, packed, unpacked
from model.pairs import Pair
from model.reader import Reader
from model.word_choice import TokenPlace, WordChoice
from tests.conftest import SENTENCES
from tests.paths import ROOT
from tests.patience import PATIENCE

#: Some twice: of equal ones, the earlier is stronger.
TEXTS = [
    *SENTENCES[:6:2],
    "Tom told me.",
    SENTENCES[0],
    "She read it.",
    "Tom told me.",
    " ",
    "It is late.",
    SENTENCES[2],
]
CORPUS = [CorpusSentence(text) for text in TEXTS]


def shuffled(of_chunk: OfChunk, chunks: Iterator[Chunk], progress: Progress) -> Iterator[tuple[int, Partial]]:
    """All chunks, computed and given in another order than they stand."""
    whole = list(chunks)
    random.Random(3).shuffle(whole)
    for chunk in whole:
        yield chunk.number, of_chunk(chunk.items, progress)


def of_chunk(words: Sequence[str], progress: Progress) -> Partial:
    """Their count, the sum of their lengths' reciprocals, and themselves."""
    progress(len(words))
    return Partial({"count": len(words), "sum": sum(1 / len(word) for word in words)}, packed("words", words))


def summed(total: Partial) -> tuple[int, float, list[str]]:
    return int(total.sums.get("count", 0)), float(total.sums.get("sum", 0)), unpacked("words", total.rows)


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_chunks_are_added_in_the_order_of_the_texts_in_whichever_they_come(size: int) -> None:
    words = [f"{'ä' * (number % 9)}\0{number}" for number in range(200)]
    wanted = Sum(of_chunk=of_chunk, finish=summed)
    with computed_by(shuffled):
        found = over_corpus(words, wanted, texts_at_once=size)
    assert found == over_corpus(words, wanted, texts_at_once=size)
    assert found[::2] == (200, words)
    assert found[1] == pytest.approx(sum(1 / len(word) for word in words), abs=1e-12)
    assert over_corpus([], wanted) == (0, 0.0, [])


def measured(translator: Translator) -> dict[str, object]:
    """Every measurement that is a sum over texts, as numbers that can be compared."""
    atlas = build_atlas(translator, CORPUS)
    cases = PronounCases(curated_cases().cases[:3])
    scores = measure_coreference(translator, cases)
    traces = [translator.trace(text) for text in TEXTS[:2]]
    places = [TokenPlace(tuple(of.source_ids), tuple(of.target_ids), 1) for of in traces]
    choices = [WordChoice(place, 5, 9 + number) for number, place in enumerate(places)]
    bleu = evaluate(translator.model, translator.tokenizer, [Pair(text, SENTENCES[1]) for text in TEXTS])
    return {
        "strongest": {name: table.tolist() for name, table in atlas.strongest.items()},
        "texts": (atlas.sentences, atlas.texts, atlas.translations, dict(atlas.skipped), dict(atlas.rows)),
        "bleu": (bleu.bleu, bleu.chrf, bleu.cut),
        "cases": (scores.cases, dict(scores.skipped), {site: of.cases for site, of in scores.sites.items()}),
        "tables": [
            *atlas.metrics.values(), *atlas.intervals.values(), atlas.divergences, atlas.mean_outputs,
            *(of.weights.to for of in scores.sites.values()), *(of.accuracy.value for of in scores.sites.values()),
            head_distances(translator, translator, TEXTS, ("encoder.self",) * 2).distances,
            measure_effects(translator, choices).changes, estimate_effects(translator, choices).changes,
            remove_heads(translator, choices, [HeadName("encoder.self", 0, 1)]).removed,
            *mean_outputs(translator, places).values(),
        ],
    }  # fmt: skip


def test_every_measurement_is_the_same_however_its_texts_are_cut(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = measured(translator)
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", 1)
    cut = measured(translator)
    for one, other in zip(cut.pop("tables"), whole.pop("tables"), strict=True):  # type: ignore[call-overload]
        np.testing.assert_allclose(one, other, atol=1e-6, rtol=1e-6)
    assert cut == whole


def test_of_many_sentences_the_texts_of_the_strongest_are_kept(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What comes again is never the strongest.
    many = [*CORPUS, *CORPUS[:3]]
    monkeypatch.setattr("model.analysis.atlas.measure.STRONGEST", 1)
    whole = build_atlas(translator, many)
    monkeypatch.setattr("model.analysis.atlas.measure.MOST_TEXTS", 4)
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", 2)
    few = build_atlas(translator, many)
    assert few.sentences == whole.sentences == len(whole.texts) == 12
    assert len(few.texts) < 12
    for name, table in few.strongest.items():
        for mine, all_ in zip(table.flat, whole.strongest[name].flat, strict=True):
            assert int(mine) == int(all_) == -1 or few.texts[mine] == whole.texts[all_]


def computed(translator: Reader, sentences: Collection[CorpusSentence], unfinished: Path) -> tuple[Atlas, int]:
    """The atlas, and how many sentences were read for it; what was kept is told a chunk at a time."""
    done: list[int] = []
    atlas = build_atlas(translator, sentences, progress=done.append, unfinished=unfinished)
    assert sum(done) == len(sentences)
    return atlas, done.count(1)


def killed(command: list[str], unfinished: Path, cache: Path) -> None:
    """Run a command until its first chunk is kept, and kill it."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    command = [sys.executable, "-m", "model", *command]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + PATIENCE
        while not list(unfinished.glob("*/*.npz")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert len(list(unfinished.glob("*/*.npz"))) == 1


@pytest.mark.long
def test_a_killed_command_goes_on_where_it_was(tiny_checkpoints: Path, tmp_path: Path) -> None:
    texts, out, unfinished = tmp_path / "texts.txt", tmp_path / "out.npz", tmp_path / "out.npz.unfinished"
    texts.write_text("\n".join(f"Tom told me {number}." for number in range(400)), encoding="utf-8")
    options = map(str, ("--text", texts, "--out", out, "--checkpoint", tiny_checkpoints / "en-de"))
    killed(["atlas", *options], unfinished, tmp_path)
    atlas, read = computed(open_reader(tiny_checkpoints / "en-de"), read_text(texts), unfinished)
    assert (atlas.sentences, read) == (400, 400 - 32)
    assert not unfinished.exists()


@pytest.mark.long
def test_a_killed_command_that_writes_no_file_goes_on_where_it_was(tiny_checkpoints: Path, tmp_path: Path) -> None:
    pairs, unfinished = tmp_path / "pairs.jsonl", tmp_path / "headlight" / "unfinished"
    rows = [{"en": ["Tom", "told", str(number)], "de": ["Tom", "sagte"], "sure": [[0, 0]]} for number in range(400)]
    pairs.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = map(str, ("--data", pairs, "--checkpoint", tiny_checkpoints / "en-de"))
    killed(["align", *options], unfinished, tmp_path)
    done: list[int] = []
    writer = as_writer(open_reader(tiny_checkpoints / "en-de"))
    scores = score_alignment(writer, read_alignments(pairs), done.append, unfinished=unfinished)
    assert (scores.rows, sum(done), [count for count in done if isinstance(count, Kept)]) == (400, 400, [32])
    assert not unfinished.exists()


@pytest.mark.parametrize("change", ["nothing", "model", "texts"])
def test_after_a_stop_only_what_is_open_is_computed_and_of_something_else_everything(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr("model.over_corpus.TEXTS_AT_ONCE", 3)
    expected = build_atlas(translator, CORPUS)
    left = 7

    def stop(count: int) -> None:
        nonlocal left
        left -= count
        if not left:
            raise CancelledError("Stopped.")

    with pytest.raises(CancelledError):
        build_atlas(translator, CORPUS, progress=stop, unfinished=tmp_path)
    assert len(list(tmp_path.glob("*/*.npz"))) == 2
    weight = next(translator.model.parameters())
    before = weight.detach().clone()
    sentences = [CorpusSentence("No."), *CORPUS] if change == "texts" else CORPUS
    try:
        if change == "model":
            weight.data.add_(1e-3)
        atlas, read = computed(translator, sentences, tmp_path)
    finally:
        weight.data.copy_(before)
    assert read == (len(CORPUS) - 6 if change == "nothing" else len(sentences))
    if change == "nothing":
        np.testing.assert_array_equal(atlas.divergences, expected.divergences)
        assert not tmp_path.exists()


def test_a_damaged_chunk_is_computed_again_and_a_folder_that_cannot_be_written_is_no_error(
    translator: Translator, tmp_path: Path
) -> None:
    def stop(_total: Partial) -> tuple[int, float, list[str]]:
        raise CancelledError("Stopped.")

    wanted = Sum(of_chunk=of_chunk, finish=summed, name=lambda: "words")
    words = ["a", "bb", "cc"]
    with pytest.raises(CancelledError):
        over_corpus(words, replace(wanted, finish=stop), no_progress, tmp_path, texts_at_once=2)
    first, second = sorted(tmp_path.glob("*/*.npz"))
    first.write_bytes(first.read_bytes()[:100])
    assert over_corpus(words, wanted, no_progress, tmp_path, texts_at_once=2)[2] == words
    assert not second.exists()
    (tmp_path / "file").parent.mkdir(exist_ok=True)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert over_corpus(words, wanted, no_progress, tmp_path / "file")[2] == words
