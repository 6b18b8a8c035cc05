"""The film of a training: recorded while it runs, gone on with, and refused when it is something else."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import Translator
from model.config import ModelConfig, TransformerConfig, changed
from model.errors import DataError
from model.nn.encoder_decoder import SITES, EncoderDecoder
from model.tokenizer import Tokenizer
from model.training.batches import encode_pairs
from model.training.film import Film, frame_steps, load_film, save_film
from model.training.film_recorder import SENTENCES, FilmRecorder
from model.training.loop import TrainingRun
from tests.model.training.test_loop import CPU, PAIRS, SETTINGS
from tests.often import often

SHORT = replace(SETTINGS, steps=4, save_every=2)


def record(
    folder: Path, config: ModelConfig, tokenizer: Tokenizer, until: int | None = None
) -> tuple[Film, EncoderDecoder]:
    run = TrainingRun(folder / "run", changed(config, {"dropout": 0.2}), tokenizer, SHORT, CPU)
    recorder = FilmRecorder(
        folder / "film.npz", run.model, tokenizer, run={"preset": "tiny"}, total=4, dev={"same": PAIRS[:1]}
    )
    model = run.train(encode_pairs(PAIRS * 4, tokenizer, 100), {}, until, recorder)
    return load_film(folder / "film.npz"), model


@pytest.fixture(scope="module", autouse=True)
def short_translations() -> Iterator[None]:
    """A model that has learned nothing writes as long as it may."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("model.decoding.search.EXTRA_LENGTH", -5)
        yield


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, config: TransformerConfig, tokenizer: Tokenizer, short_translations: None
) -> tuple[Path, Film, EncoderDecoder]:
    folder = tmp_path_factory.mktemp("film")
    return folder, *record(folder, config, tokenizer)


@pytest.fixture
def film(recorded: tuple[Path, Film, EncoderDecoder]) -> Film:
    return recorded[1]


def test_frames_are_spaced_by_logarithm_up_to_the_last_step() -> None:
    steps = frame_steps(2_000)
    assert len(steps) == len(set(steps)) == 30
    assert (steps[0], steps[1], steps[-1]) == (0, 1, 2_000)
    late = np.diff(np.log(steps[12:]))
    assert late.max() < 1.1 * late.min()
    assert frame_steps(4) == [0, 1, 2, 3, 4]
    assert frame_steps(29) == list(range(30))
    # Each as many times the one before; of whole numbers as well as they can.
    assert [frame_steps(100, count) for count in (2, 3, 4)] == [[0, 100], [0, 10, 100], [0, 5, 22, 100]]


def test_a_film_holds_every_weight_of_every_frame(film: Film, config: TransformerConfig) -> None:
    assert film.steps == tuple(range(5))
    assert np.isnan(film.losses[0])
    assert all(loss > 0 for loss in film.losses[1:])
    assert len(film.scores["same"]) == 5
    for sentence in film.sentences:
        assert len(sentence.translations) == 5
        for site in SITES:
            weights = sentence.frame(4, site)
            assert weights.shape[:2] == (config.num_layers, config.num_heads)
            # Each of n keys is off by half a 255th at most.
            assert abs(weights.sum(-1) - 1).max() <= weights.shape[-1] / 510 + 1e-6
    changed = film.sentences[0].weights["encoder.self"]
    assert (changed[0] != changed[4]).any()


def test_the_last_frame_is_what_the_model_attends_to_after_the_last_step(
    recorded: tuple[Path, Film, EncoderDecoder], config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    # The model that a run gives is the mean of its last states; a resumed one is the last state.
    folder, film, _ = recorded
    run = TrainingRun(folder / "run", replace(config, dropout=0.2), tokenizer, SHORT, CPU)
    source, target, _ = SENTENCES[0]
    trace = Translator(run.model, tokenizer).trace(source, target)
    for site in SITES:
        shown = film.sentences[0].frame(4, site)[1]
        assert abs(shown - trace.weights(site, 1)[:, : shown.shape[1]].numpy()).max() <= 1 / 500


def test_a_film_is_gone_on_with_after_a_stop(
    tmp_path: Path, film: Film, config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    record(tmp_path, config, tokenizer, until=3)
    again, _ = record(tmp_path, config, tokenizer)
    assert again.steps == film.steps
    for site in SITES:
        assert np.array_equal(again.sentences[2].weights[site], film.sentences[2].weights[site])


def test_a_film_changes_nothing_in_the_training(
    tmp_path: Path, recorded: tuple[Path, Film, EncoderDecoder], config: TransformerConfig, tokenizer: Tokenizer
) -> None:
    alone = TrainingRun(tmp_path, replace(config, dropout=0.2), tokenizer, SHORT, CPU)
    alone.train(encode_pairs(PAIRS * 4, tokenizer, 100), {})
    for ours, theirs in zip(recorded[2].parameters(), alone.model.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)


def damaged(film: Film, path: Path, **changes: Any) -> None:
    save_film(film, str(path))
    with np.load(path) as arrays:
        content = dict(arrays)
    header = json.loads(content["film.json"].tobytes())
    if "weights" in changes:
        content["0/encoder.self"] = changes.pop("weights")
    if "heads" in changes:
        content["0/encoder.self"] = content["0/encoder.self"][:, :, : changes.pop("heads")]
    content["film.json"] = np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)
    np.savez_compressed(path, **content)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "other"},
        {"steps": [0, 1, 1, 2, 3]},
        {"losses": ["<b>"] * 5},
        {"scores": {"same": [1e999] * 5}},
        {"run": {"preset": {"deep": 1}}},
        {"sentences": []},
        {"weights": np.zeros((5, 2, 4, 3, 3), dtype=np.uint8)},
        {"heads": 3},
    ],
    ids=str,
)
def test_a_damaged_film_is_refused_in_a_sentence(film: Film, tmp_path: Path, changes: dict[str, Any]) -> None:
    damaged(film, tmp_path / "film.npz", **changes)
    with pytest.raises(DataError, match=r"film\.npz is not a film"):
        load_film(tmp_path / "film.npz")


def test_a_file_that_is_no_film_or_missing_is_said(tmp_path: Path) -> None:
    (tmp_path / "film.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(DataError, match="not a film"):
        load_film(tmp_path / "film.npz")
    with pytest.raises(DataError, match="There is no file"):
        load_film(tmp_path / "none.npz")


@pytest.mark.parametrize("architecture", often(["recurrent", "convolutional"], ("recurrent",)))
def test_a_model_without_self_attention_trains_alike_and_its_film_has_the_one_attention(
    architecture: str, earlier_configs: dict[str, ModelConfig], tokenizer: Tokenizer, tmp_path: Path
) -> None:
    config = earlier_configs[architecture]
    film, model = record(tmp_path, config, tokenizer)
    for sentence in film.sentences:
        assert list(sentence.weights) == ["decoder.cross"]
        assert sentence.weights["decoder.cross"].shape[1:3] == config.shapes["decoder.cross"]
        np.testing.assert_allclose(sentence.frame(4, "decoder.cross").sum(-1), 1, atol=0.1)
    record(tmp_path / "resumed", config, tokenizer, until=2)
    _, resumed = record(tmp_path / "resumed", config, tokenizer)
    for name, parameter in resumed.named_parameters():
        torch.testing.assert_close(parameter, dict(model.named_parameters())[name])
