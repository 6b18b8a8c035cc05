"""The atlas of heads: every number against plain loops over the traces of each sentence."""

import math
import unicodedata
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.atlas.file import load_atlas, save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas, reading_digest
from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.alignment import AlignedPair, score_alignment
from model.analysis.metrics.head_metrics import ROW_METRICS
from model.analysis.metrics.measures import value_weighted_norms
from model.errors import DataError
from model.nn.encoder_decoder import SITES, site_path
from model.trace.trace import Trace
from model.words import attention_between_words, pieces_of_words
from tests.conftest import SENTENCES

CORPUS = [
    CorpusSentence(SENTENCES[0], "Das Tier war müde, weil das Tier lief, weil das Tier lief."),
    CorpusSentence(SENTENCES[6]),
    CorpusSentence("Tom told me."),
    CorpusSentence(SENTENCES[2], SENTENCES[3]),
]
ALIGNED = [
    AlignedPair(("tom", "told", "me"), ("tom", "sagte", "mir"), frozenset({(0, 0), (1, 1), (2, 2)})),
    AlignedPair(("she", "read", "it"), ("es", "las", "sie"), frozenset({(0, 2), (2, 0)})),
]


@pytest.fixture(scope="module")
def atlas(translator: Translator) -> Atlas:
    return build_atlas(translator, CORPUS)


@pytest.fixture(scope="module")
def traces(translator: Translator) -> list[Trace]:
    return [translator.trace(sentence.text, sentence.target) for sentence in CORPUS]


def norm_matrix(translator: Translator, trace: Trace, site: str, layer: int, head: int) -> np.ndarray:
    """Weight times the length of W_O (value), divided by the sum of the row."""
    inputs = trace.attention(site, layer)
    width = inputs.value.size(-1)
    output = translator.model.get_parameter(f"{site_path(site, layer)}.output.weight").detach().numpy()
    own = output[:, head * width : (head + 1) * width]
    weights = trace.weights(site, layer)[head].numpy()
    result = np.zeros(weights.shape)
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            result[i, j] = weights[i, j] * math.sqrt(sum((own @ inputs.value[head, j].numpy()) ** 2))
        result[i] /= result[i].sum()
    return result


def slow_rows(matrix: np.ndarray, site: str, queries: tuple[str, ...], keys: tuple[str, ...]) -> dict[str, list[float]]:
    """Figure → its values in the rows that have one, number by number, from the definitions in words."""
    found: dict[str, list[float]] = {name: [] for name in ROW_METRICS}
    causal, itself = site == "decoder.self", site != "decoder.cross"
    slope = Fraction(len(keys) - 1, max(1, len(queries) - 1))
    for i in range(len(queries)):
        seen = range(i + 1) if causal else range(len(keys))
        if len(seen) == 1:
            continue
        row = [float(matrix[i][j]) for j in range(len(keys))]
        found["entropy"].append(-sum(row[j] * math.log2(row[j]) for j in seen if row[j] > 0))
        found["distance"].append(sum(row[j] * abs(j - i * slope) for j in seen))
        if queries[i] != "</s>":
            found["confidence"].append(max(row[j] for j in seen if keys[j] != "</s>"))

        def share(name: str, chosen: set[int], row: list[float] = row, seen: range = seen) -> None:
            inside = [j for j in seen if j in chosen]
            if inside and len(inside) < len(seen):
                found[name].append(sum(row[j] for j in inside))

        if itself:
            share("previous", {i - 1})
            share("same", {i})
            share("next", {i + 1})
        share("first", {0})
        share("last", {len(keys) - 1})
        share("diagonal", {j for j in range(len(keys)) if abs(j - i * slope) <= 1})
        marks = {
            j
            for j, token in enumerate(keys)
            if token.strip("▁") and all(unicodedata.category(sign)[0] == "P" for sign in token.strip("▁"))
        }
        share("punctuation", marks)
        if causal:
            share("induction", {j + 1 for j in range(i - 1) if keys[j] == queries[i]})
    return found


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("by", ["weight", "norm"])
def test_every_figure_is_the_mean_over_the_rows_of_all_sentences(
    translator: Translator, atlas: Atlas, traces: list[Trace], site: str, by: str
) -> None:
    for layer, head in ((0, 1), (1, 3)):
        rows: dict[str, list[float]] = {name: [] for name in ROW_METRICS}
        for trace in traces:
            weights = trace.weights(site, layer)[head].numpy()
            matrix = weights if by == "weight" else norm_matrix(translator, trace, site, layer, head)
            for name, values in slow_rows(matrix, site, *trace.axis_tokens(site)).items():
                rows[name] += values
        for name, values in rows.items():
            key = name if by == "weight" else f"norm_{name}"
            assert atlas.rows[key][SITES.index(site)] == len(values), key
            expected = sum(values) / len(values) if values else math.nan
            entry = float(atlas.metrics[key][SITES.index(site), layer, head])
            assert entry == pytest.approx(expected, rel=1e-4, abs=1e-5, nan_ok=True), key


def test_divergence_is_that_of_clark_et_al_row_by_row(atlas: Atlas, traces: list[Trace]) -> None:
    def bits(p: list[float], q: list[float]) -> float:
        return sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True) if a > 0)

    for index, site in enumerate(SITES):
        for (layer, head), (other_layer, other_head) in [((0, 0), (1, 3)), ((1, 1), (1, 2))]:
            found = []
            for trace in traces:
                p = trace.weights(site, layer)[head].double().tolist()
                q = trace.weights(site, other_layer)[other_head].double().tolist()
                for i in range(1 if site == "decoder.self" else 0, len(p)):
                    middle = [(a + b) / 2 for a, b in zip(p[i], q[i], strict=True)]
                    found.append(bits(p[i], middle) / 2 + bits(q[i], middle) / 2)
            entry = float(atlas.divergences[index, 4 * layer + head, 4 * other_layer + other_head])
            assert entry == pytest.approx(sum(found) / len(found), abs=1e-5)
        np.testing.assert_array_equal(atlas.divergences[index], atlas.divergences[index].T)
        np.testing.assert_array_equal(np.diag(atlas.divergences[index]), 0)


def test_strongest_sentences_come_first(atlas: Atlas, traces: list[Trace]) -> None:
    for name in ("confidence", "induction"):
        for index, site in enumerate(SITES):
            of_sentences = {}
            for number, trace in enumerate(traces):
                values = slow_rows(trace.weights(site, 1)[2].numpy(), site, *trace.axis_tokens(site))[name]
                if values:
                    of_sentences[number] = sum(values) / len(values)
            expected = sorted(of_sentences, key=lambda number: -of_sentences[number])
            assert atlas.strongest[name][index, 1, 2].tolist() == expected + [-1] * (5 - len(expected))


def test_mean_outputs_are_those_of_the_heads(atlas: Atlas, traces: list[Trace]) -> None:
    rows = torch.cat([trace.head_output("decoder.cross", 1, [3])[0] for trace in traces])
    np.testing.assert_allclose(atlas.mean_outputs[2, 1, 3], rows.mean(0).numpy(), atol=1e-5)


def test_error_rates_are_those_of_the_aligner(translator: Translator) -> None:
    done: list[int] = []
    atlas = build_atlas(translator, CORPUS[2:3], ALIGNED, done.append)
    assert sum(done) == 1 + len(ALIGNED)
    scores = score_alignment(translator, ALIGNED)
    for way in ("word_in", "word_out"):
        table = atlas.metrics[f"aer_{way}"]
        assert np.isnan(table[:2]).all()
        np.testing.assert_allclose(table[2], scores.ways[way].heads, rtol=1e-6)
        assert not np.isnan(atlas.metrics[f"norm_aer_{way}"][2]).any()
        assert atlas.rows[f"aer_{way}"] == (0, 0, 5)


def test_error_rate_by_norms_is_that_of_the_longest_vector(translator: Translator) -> None:
    (pair,) = ALIGNED[:1]
    texts = " ".join(pair.source), " ".join(pair.target)
    trace, cross = translator.trace(*texts), "decoder.cross"
    source, target = (pieces_of_words(text, translator.tokenizer.offsets(text)) for text in texts)
    values, projection = trace.attention(cross, 1).values(), translator.output_projection(cross, 1)
    lengths = value_weighted_norms(trace.weights(cross, 1), values, projection)
    # The row that writes a piece stands where the piece does.
    longest = attention_between_words(lengths, target, source)[2].argmax(-1)
    atlas = build_atlas(translator, CORPUS[2:3], [pair])
    hits = int((longest == torch.arange(3)).sum())
    assert float(atlas.metrics["norm_aer_word_out"][2, 1, 2]) == pytest.approx(1 - 2 * hits / 6)


def test_sentences_that_the_model_refuses_are_counted(translator: Translator) -> None:
    atlas = build_atlas(translator, [CorpusSentence(" "), CORPUS[2], CorpusSentence("word " * 100)])
    assert atlas.texts == ("Tom told me.",)
    assert dict(atlas.skipped) == {"blank, or too long for this model": 2}
    # Sentences keep their order, whichever are left out and whichever are read first.
    texts = ["The cup fell off the table.", " ", "Tom.", "She gave him a book.", " ", "Tom told me."]
    assert build_atlas(translator, [*map(CorpusSentence, texts)]).texts == tuple(text for text in texts if text.strip())
    with pytest.raises(DataError, match="No sentence could be read"):
        build_atlas(translator, [CorpusSentence(" ")])


def test_batches_change_nothing(translator: Translator, atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.decoding.side_by_side.TOKENS_AT_ONCE", 1)
    monkeypatch.setattr("model.analysis.atlas.head_distance.WEIGHTS_AT_ONCE", 1)
    alone = build_atlas(translator, CORPUS)
    assert alone.texts == atlas.texts
    for name, table in atlas.metrics.items():
        np.testing.assert_allclose(alone.metrics[name], table, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(alone.divergences, atlas.divergences, atol=1e-5)


def test_without_sinks_shares_of_other_keys_stay_what_they_are_and_what_sinks_held_is_kept(
    translator: Translator, traces: list[Trace], tmp_path: Path
) -> None:
    save_atlas(build_atlas(translator, CORPUS, sinks=False), tmp_path / "atlas.npz")
    found = load_atlas(tmp_path / "atlas.npz")
    assert found.held is not None
    for at, site in enumerate(SITES):
        held, confident = [], []
        for trace in traces:
            weights, mask = trace.weights(site, 1)[2], trace.mask(site, 1)
            keys = torch.ones(weights.size(1), dtype=torch.bool)
            keys[list(trace.sinks(site))] = False
            held += weights[:, ~keys].sum(1).tolist()
            counts = (mask & keys).sum(1) > 1
            last = (trace.source_tokens or trace.target_tokens)[-1]
            counts &= torch.tensor([token != last for token in trace.axis_tokens(site)[0]])
            confident += weights[counts][:, keys].amax(1).tolist()
        assert found.held[at, 1, 2] == pytest.approx(np.mean(held), abs=1e-6)
        assert found.metrics["confidence"][at, 1, 2] == pytest.approx(np.mean(confident), abs=1e-6)
        assert np.isnan(found.metrics["punctuation"][at]).all()
    # A cache does not take the one for the other.
    assert found.corpus != reading_digest(CORPUS, ())
