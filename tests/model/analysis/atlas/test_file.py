"""An atlas on disk: the same as before, read by NumPy alone, and made anew when a file is damaged."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model import Translator
from model.__main__ import main
from model.analysis.atlas.file import cached_atlas, load_atlas, save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.corpus import CorpusSentence, Origin
from model.analysis.data_files import Columns
from model.checkpoint import model_digest
from model.errors import DataError
from model.nn.encoder_decoder import SITES
from tests.conftest import SENTENCES

CORPUS = [CorpusSentence("Tom told me."), CorpusSentence(SENTENCES[6], "Sie las es."), CorpusSentence(" ")]


@pytest.fixture(scope="module")
def atlas(translator: Translator) -> Atlas:
    return build_atlas(translator, CORPUS)


def assert_same(a: Atlas, b: Atlas) -> None:
    for name in ("model", "corpus", "texts", "translations"):
        assert getattr(a, name) == getattr(b, name)
    assert (dict(a.skipped), dict(a.rows)) == (dict(b.skipped), dict(b.rows))
    for name in ("metrics", "intervals", "strongest"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.keys() == other.keys()
        for key in one:
            np.testing.assert_array_equal(one[key], other[key])
    np.testing.assert_array_equal(a.divergences, b.divergences)
    np.testing.assert_array_equal(a.mean_outputs, b.mean_outputs)


def test_what_is_read_is_what_was_written(atlas: Atlas, translator: Translator, tmp_path: Path) -> None:
    save_atlas(atlas, f"{tmp_path}/a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]
    loaded = load_atlas(tmp_path / "a.npz")
    assert_same(loaded, atlas)
    assert loaded.model == model_digest(translator.model, translator.tokenizer)
    with pytest.raises(ValueError, match="read-only"):
        loaded.divergences[...] = 0
    origin = Origin("mine.csv", 90, Columns("en", "de"), sample=30, seed=7)
    save_atlas(replace(atlas, origin=origin), tmp_path / "drawn.npz")
    assert (load_atlas(tmp_path / "drawn.npz").origin, loaded.origin) == (origin, None)


def changed(path: Path, **changes: np.ndarray) -> bytes:
    """The file with other arrays under some names."""
    with np.load(path) as arrays:
        held = {name: arrays[name] for name in arrays}
    target = path.with_name("changed.npz")
    np.savez(target, **(held | {name.replace("__", "/"): value for name, value in changes.items()}))
    return target.read_bytes()


@pytest.fixture
def saved(atlas: Atlas, tmp_path: Path) -> Path:
    save_atlas(atlas, tmp_path / "a.npz")
    return tmp_path / "a.npz"


def damages(path: Path) -> dict[str, bytes]:
    with np.load(path) as arrays:
        header = json.loads(arrays["atlas.json"].tobytes())
        figure, strongest = arrays["figures/entropy"], arrays["strongest/entropy"]

    def with_header(**changes: object) -> np.ndarray:
        return np.frombuffer(json.dumps(header | changes).encode(), dtype=np.uint8)

    whole = path.read_bytes()
    return {
        "empty": b"",
        "no zip": b"PK" + b"x" * 100,
        "cut": whole[: len(whole) // 2],
        "bit": whole[:500] + bytes([whole[500] ^ 0xFF]) + whole[501:],
        "format": changed(path, **{"atlas.json": with_header(format="headlight-atlas-0")}),
        "texts": changed(path, **{"atlas.json": with_header(texts=[1, 2])}),
        "missing text": changed(path, **{"atlas.json": with_header(texts=["a"], translations=["b"])}),
        "rows": changed(path, **{"atlas.json": with_header(rows={"entropy": [1]})}),
        "no object": changed(path, **{"atlas.json": np.frombuffer(b"[]", dtype=np.uint8)}),
        "origin": changed(path, **{"atlas.json": with_header(origin={"name": "a.csv", "rows": 2})}),
        "shape": changed(path, figures__entropy=figure[:, :1]),
        "type": changed(path, figures__entropy=figure.astype(np.float64)),
        "sentence": changed(path, strongest__entropy=strongest + 1),
        "pickle": changed(path, figures__entropy=np.array([{}], dtype=object)),
    }


def test_a_damaged_file_is_said_and_one_of_the_cache_is_made_anew(
    translator: Translator, saved: Path, tmp_path: Path, atlas: Atlas
) -> None:
    folder = tmp_path / "cache"
    assert_same(cached_atlas(translator, CORPUS, folder), atlas)
    (kept,) = folder.iterdir()
    good = kept.read_bytes()
    for name, content in damages(saved).items():
        saved.write_bytes(content)
        with pytest.raises(DataError, match=r"a\.npz is not an atlas"):
            load_atlas(saved)
        kept.write_bytes(content)
        assert_same(cached_atlas(translator, CORPUS, folder), atlas)
        assert kept.read_bytes() == good, name
    with pytest.raises(DataError, match="no file"):
        load_atlas(tmp_path / "none.npz")


def test_tables_and_heads_have_to_fit_together(saved: Path, atlas: Atlas) -> None:
    with np.load(saved) as arrays:
        header, strongest = json.loads(arrays["atlas.json"].tobytes()), arrays["strongest/entropy"]

    def with_(heads: object, **changes: np.ndarray) -> Atlas:
        content = np.frombuffer(json.dumps(header | {"heads": heads}).encode(), dtype=np.uint8)
        changed(saved, **{"atlas.json": content}, **changes)
        return load_atlas(saved.with_name("changed.npz"))

    assert with_(None).heads == dict.fromkeys(SITES, (4, 4))
    assert with_({"decoder.cross": [1, 4], "encoder.self": [3]}).heads == {
        "encoder.self": (3,),
        "decoder.cross": (1, 4),
    }
    assert with_(None, strongest__entropy=strongest[..., :1]).strongest["entropy"].shape == (3, 2, 4, 1)
    of_site: tuple[object, ...] = ([], [4, 4, 4], [4, 5], [0, 4], [True, 4], 4)
    for heads in ({}, [], {"x": [4, 4]}, *({"encoder.self": counts} for counts in of_site)):
        with pytest.raises(DataError, match="is not an atlas"):
            with_(heads)
    for table in ({"strongest__entropy": strongest - 1}, {"mean_outputs": np.zeros((3, 2, 4, 0), np.float32)}):
        with pytest.raises(DataError, match="is not an atlas"):
            with_(None, **table)


def test_the_oldest_files_of_a_full_cache_go(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_atlas(translator, CORPUS, tmp_path)
    (oldest,) = tmp_path.iterdir()
    os.utime(oldest, (1, 1))
    monkeypatch.setattr("model.analysis.atlas.file.LARGEST_CACHE", int(2.5 * oldest.stat().st_size))
    cached_atlas(translator, CORPUS[:1], tmp_path)
    assert oldest.exists()
    cached_atlas(translator, CORPUS[1:], tmp_path)
    assert not oldest.exists()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_second_time_nothing_is_computed(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "new" / "cache"
    first = cached_atlas(translator, CORPUS, folder)
    monkeypatch.setattr("model.analysis.atlas.file.build_atlas", None)
    assert_same(cached_atlas(translator, CORPUS, folder), first)
    with pytest.raises(TypeError):
        cached_atlas(translator, CORPUS[:1], folder)


def test_the_command_writes_the_file_and_prints_its_figures(
    tiny_checkpoints: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = ["--checkpoint", str(tiny_checkpoints / "en-de"), "--device", "cpu"]
    text, gold, out = tmp_path / "text.txt", tmp_path / "gold.jsonl", tmp_path / "a.npz"
    text.write_text("Tom told me.\tTom sagte mir.\nShe read it.\tSie las es.\nNo.\n", encoding="utf-8")
    gold.write_text(json.dumps({"en": ["tom"], "de": ["tom"], "sure": [[0, 0]]}), encoding="utf-8")
    command = ["atlas", "--text", str(text), "--align", str(gold), "--limit", "2", "--out", str(out), *checkpoint]
    assert main([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    atlas = load_atlas(out)
    assert (printed["sentences"], atlas.texts) == (2, ("Tom told me.", "She read it."))
    entropy = atlas.metrics["entropy"][2, 1, 3]
    assert printed["figures"]["entropy"]["decoder.cross"][1][3] == pytest.approx(float(entropy), abs=1e-4)
    assert printed["figures"]["next"]["decoder.self"][0][0] is None
    assert printed["figures"]["aer_word_in"]["decoder.cross"][0][0] is not None
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("confidence")]
    best = np.unravel_index(int(atlas.metrics["confidence"][0].argmax()), (2, 4))
    assert row.split()[1:5] == ["layer", f"{best[0] + 1},", "head", str(best[1] + 1)]
    (row,) = [line for line in lines if line.startswith("aer_word_in")]
    assert row.split()[-1] == f"{float(np.nanmin(atlas.metrics['aer_word_in'])):.3f}"
