"""Atlases of models of every kind: against plain loops over their traces, and of ours by both ways of reading."""

import math

import numpy as np
import pytest

from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.coreference.case_files import PronounCases, curated_cases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.corpus import CorpusSentence
from model.analysis.metrics.head_jobs import ANTECEDENT
from model.analysis.metrics.repeated_tokens import copies_of
from model.nn.encoder_decoder import SITES
from model.opening import open_reader
from model.reader import Reader
from model.translator import EarlierTranslator
from tests.conftest import SENTENCES
from tests.model.adapters.zoo import save_model

CORPUS = [CorpusSentence(SENTENCES[0]), CorpusSentence("Tom told me."), CorpusSentence(SENTENCES[2], SENTENCES[3])]
TOKENIZERS = {"bert": "wordpiece", "mpnet": "wordpiece", "gpt2": "bytes", "mistral": "bytes", "bart": "metaspace"}


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reader]:
    root = tmp_path_factory.mktemp("models")
    return {name: open_reader(save_model(root / name, name, kind)) for name, kind in TOKENIZERS.items()}


@pytest.fixture(scope="module")
def atlases(readers: dict[str, Reader]) -> dict[str, Atlas]:
    return {name: build_atlas(reader, CORPUS) for name, reader in readers.items()}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_metrics_are_means_over_the_rows_in_which_there_is_a_choice(
    readers: dict[str, Reader], atlases: dict[str, Atlas], name: str
) -> None:
    reader, atlas = readers[name], atlases[name]
    traces = [
        reader.trace(sentence.text, sentence.target if "decoder.cross" in reader.abilities.heads else None)
        for sentence in CORPUS
    ]
    assert set(atlas.heads) == set(reader.abilities.heads)
    for site, heads in reader.abilities.heads.items():
        assert atlas.heads[site] == heads
        for layer, count in enumerate(heads):
            for head in range(count):
                entropies, first = [], []
                for trace in traces:
                    mask = trace.inputs[site][layer].mask.rows()[0]
                    weights = trace.weights(site, layer)[head]
                    for i, seen in enumerate(mask.tolist()):
                        if sum(seen) > 1:
                            row = weights[i].tolist()
                            entropies.append(-sum(value * math.log2(value) for value in row if value > 0))
                            if seen[0]:
                                first.append(row[0])
                at = (SITES.index(site), layer, head)
                assert float(atlas.metrics["entropy"][at]) == pytest.approx(np.mean(entropies), abs=1e-4)
                assert float(atlas.metrics["first"][at]) == pytest.approx(np.mean(first), abs=1e-4)


def test_a_window_hides_rows_from_some_layers_only(atlases: dict[str, Atlas]) -> None:
    # Rows further than a window from the first token cannot look at it: fewer of them count.
    gpt2, mistral = (atlases[name] for name in ("gpt2", "mistral"))
    assert mistral.rows["first"][1] < gpt2.rows["first"][1]
    assert mistral.rows["entropy"][1] == gpt2.rows["entropy"][1]


def test_what_a_model_lacks_is_not_there(atlases: dict[str, Atlas]) -> None:
    bert, bart, mpnet = (atlases[name] for name in ("bert", "bart", "mpnet"))
    assert np.isnan(bert.metrics["entropy"][1:]).all()
    assert not np.isnan(bert.metrics["entropy"][0]).any()
    # Three layers of four heads read, two of two heads write.
    assert bart.metrics["entropy"].shape == (3, 3, 4)
    assert np.isnan(bart.metrics["entropy"][1, 2:]).all()
    assert np.isnan(bart.metrics["entropy"][1, :, 2:]).all()
    assert not np.isnan(bart.metrics["entropy"][2, :2, :2]).any()
    assert (bart.strongest["entropy"][1, :, 2:] == -1).all()
    assert list(bart.own("decoder.cross")) == [0, 1, 4, 5]
    assert "norm_entropy" in bart.metrics
    assert not any(name.startswith("norm_") for name in mpnet.metrics)
    assert np.isnan(mpnet.mean_outputs).all()


def test_repeated_tokens_are_measured_in_every_copy_but_the_first(
    readers: dict[str, Reader], atlases: dict[str, Atlas]
) -> None:
    rows = 8 * 25 * copies_of(readers["gpt2"]) - 8 * 25
    assert rows > 0
    assert atlases["gpt2"].rows["duplicate"] == (0, rows, 0)
    assert "duplicate" not in atlases["bert"].rows


def test_following_antecedents_is_measured_of_what_reads_the_sentence(readers: dict[str, Reader]) -> None:
    cases = PronounCases(curated_cases().cases[::5])
    atlas = build_atlas(readers["gpt2"], CORPUS[:1], cases=cases)
    scored = measure_coreference(readers["gpt2"], cases).sites["decoder.self"]
    np.testing.assert_array_equal(atlas.metrics[ANTECEDENT][1], scored.accuracy.value)
    np.testing.assert_array_equal(atlas.intervals[ANTECEDENT][1][..., 0], scored.accuracy.low)
    assert atlas.rows[ANTECEDENT] == (0, len(scored.cases), 0)
    assert np.isnan(atlas.metrics[ANTECEDENT][[0, 2]]).all()


def test_a_model_from_before_the_transformer_follows_no_antecedents(
    earlier_translators: dict[str, EarlierTranslator],
) -> None:
    for translator in (one for one in earlier_translators.values() if one.abilities.heads):
        assert ANTECEDENT not in build_atlas(translator, CORPUS[:2], cases=curated_cases()).metrics
