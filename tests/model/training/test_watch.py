"""A film of somebody's own training: every kind of model, the training as without it, and a file that stays small."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from model.errors import ConfigError
from model.training.film import load_film
from model.training.watch import MOST_FRAMES, watch
from tests.model.adapters.zoo import save_model
from tests.model.training.small_trainer import TEXTS, trained
from viz.pages.experiments.through_training import data


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("kind", "spelling", "head", "sites"),
    [
        ("bert", "wordpiece", "AutoModelForMaskedLM", {"encoder.self"}),
        ("bart", "metaspace", None, {"encoder.self", "decoder.self", "decoder.cross"}),
    ],
)
def test_a_trainers_film_opens_and_the_training_is_as_without_it(
    tmp_path: Path, kind: str, spelling: str, head: str | None, sites: set[str]
) -> None:
    folder = save_model(tmp_path / kind, kind, spelling)
    alone, file = trained(folder, head, tmp_path), tmp_path / "film.npz"
    watched = trained(folder, head, tmp_path, file)
    assert watched == alone
    film = load_film(file)
    assert film.steps == (0, 2, 4, 6, 7)
    assert np.isfinite(film.losses[1:]).all()
    opened = data.read(file.read_bytes(), file.name)
    assert set(opened.sites) == sites
    for site in opened.sites:
        weights = film.sentences[0].weights[site]
        assert (data.view(opened, 0, site, "").layers, data.view(opened, 0, site, "").heads) == weights.shape[1:3]
        np.testing.assert_allclose(weights.sum(-1) / 255, 1, atol=0.1)
        assert (weights[0] != weights[-1]).any()
    assert bool(film.sentences[0].source_tokens) == ("encoder.self" in sites)


def loop(folder: Path, file: Path, steps: int, **given: Any) -> tuple[Any, Any]:
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    watching = watch(model, tokenizer, file=file, **given)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    ids = torch.tensor([tokenizer(TEXTS[0])["input_ids"]])
    model.train()
    model.transformer.h[0].eval()
    watching.begin()
    for _ in range(steps):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        watching.step(loss)
    return model, tokenizer


def test_in_a_loop_of_ones_own_frames_and_modes_are_kept_and_the_file_stays_small(tmp_path: Path) -> None:
    folder, file = save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "film.npz"
    model, tokenizer = loop(folder, file, 2 * MOST_FRAMES + 9, every=1, sentences=TEXTS[:2])
    film = load_film(file)
    assert len(film.steps) <= MOST_FRAMES
    assert (film.steps[0], film.steps[-1]) == (0, 2 * MOST_FRAMES + 8)
    assert np.diff(film.steps).max() <= 4
    assert model.training
    assert not model.transformer.h[0].training
    assert model.config._attn_implementation == "sdpa"
    eager = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    eager.load_state_dict(model.state_dict())
    again = watch(model, tokenizer, file=file, sentences=TEXTS[:2])
    again.begin(2 * MOST_FRAMES + 9)
    expected = eager(torch.tensor([tokenizer(TEXTS[1])["input_ids"]]), output_attentions=True).attentions
    found = load_film(file).sentences[1].frame(-1, "decoder.self")
    np.testing.assert_allclose(found, torch.stack(expected)[:, 0].detach().numpy(), atol=0.5 / 255 + 1e-6)


def test_a_model_of_many_heads_has_fewer_frames_and_opens(tmp_path: Path) -> None:
    folder, file = save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "film.npz"
    config = transformers.AutoConfig.from_pretrained(folder, n_layer=25, n_head=16, n_embd=32)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    loop(folder, file, 5, every=1, sentences=TEXTS[:2])
    opened = data.read(file.read_bytes(), file.name)
    view = data.view(opened, 1, "decoder.self", "first")
    assert (view.layers, view.heads, opened.film.steps) == (25, 16, (0, 1, 2, 3, 4, 5))
    first = data.metrics(opened, "decoder.self")["first"][5, 24, 15]
    of_both = [sentence.weights["decoder.self"][5, 24, 15, 1:, 0] / 255 for sentence in opened.film.sentences]
    assert first == pytest.approx(np.concatenate(of_both).mean(), abs=1e-6)


def test_what_cannot_be_watched_is_said(tmp_path: Path) -> None:
    folder, file = save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "film.npz"
    loop(folder, file, 1, every=1, sentences=TEXTS[:1])
    with pytest.raises(ConfigError, match="film of another run"):
        loop(folder, file, 1, every=1, sentences=TEXTS[1:2])
    with pytest.raises(ConfigError, match="at most 256 are allowed"):
        loop(folder, tmp_path / "long.npz", 1, sentences=["dog " * 300])
    with pytest.raises(ConfigError, match="1 to 24 sentences"):
        loop(folder, tmp_path / "none.npz", 1, sentences=[])
