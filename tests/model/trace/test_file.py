"""A trace in a file: nothing lost, no pickle, damage noticed."""

import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import Translator
from model.errors import TraceError
from model.nn.edits import MakeUniform, PointAt, SwitchOff
from model.sources.source import SoundSource, Waveform
from model.trace.file import load_trace, save_trace, write_trace
from model.trace.trace import Trace
from tests.conftest import SENTENCES


@pytest.mark.parametrize("text", [SENTENCES[0], "🦊 </s> \ud800"])
def test_a_trace_survives_saving_and_loading(translator: Translator, tmp_path: Path, text: str) -> None:
    trace = translator.trace(text.encode("utf-8", "replace").decode(), extras={"hook_head_output"})
    save_trace(trace, tmp_path / "trace.npz")
    again = load_trace(str(tmp_path / "trace.npz"))
    for name in ("text", "translation", "source_tokens", "target_ids", "predicted_tokens", "steps", "sites"):
        assert getattr(again, name) == getattr(trace, name)
    for site in trace.sites:
        for layer in range(trace.layers_of(site)):
            assert torch.equal(again.scores(site, layer), trace.scores(site, layer))
            assert torch.equal(again.weights(site, layer), trace.weights(site, layer))
            assert torch.equal(again.head_output(site, layer), trace.head_output(site, layer))
    assert again.recorded.keys() == trace.recorded.keys()
    assert torch.equal(again.positional["source"], trace.positional["source"])


def test_files_written_before_a_trace_had_a_source_open(translator: Translator) -> None:
    folder = Path(__file__).with_name("without_source")
    text, picture = load_trace(folder / "text.npz"), load_trace(folder / "picture.npz")
    trace = translator.trace("Tom.", "Er.", edits=[SwitchOff("decoder.cross", 0, 3)])
    for name in ("text", "source_ids", "source_tokens", "target_ids", "edits"):
        assert getattr(text, name) == getattr(trace, name)
    torch.testing.assert_close(text.weights("decoder.cross", 1), trace.weights("decoder.cross", 1), atol=1e-5, rtol=0)
    grid = picture.source.grid
    assert grid is not None
    assert (picture.text, picture.source_tokens[:2], picture.source_ids[:2]) == ("cat.png", ("[CLS]", "1·1"), (0, 1))
    assert (grid.rows, grid.columns, grid.first_patch, grid.pixels.shape) == (3, 3, 1, (24, 24, 3))
    assert picture.weights("encoder.self", 1).shape == (4, 10, 10)


def of_sound(trace: Trace, samples: list[int], seconds: float = 0.024) -> Trace:
    """What a model that reads sounds would have made of one, instead of words."""
    waveform = Waveform(samples=torch.tensor(samples, dtype=torch.int16), rate=50, seconds_per_frame=seconds)
    return replace(trace, source=SoundSource.of_frames("a.wav", waveform, len(trace.source_tokens)))


def test_a_sound_survives_saving_and_loading_and_tells_its_trace_from_others(
    translator: Translator, tmp_path: Path
) -> None:
    trace = of_sound(translator.trace("Tom sleeps."), [-32_768, 0, 32_767])
    save_trace(trace, tmp_path / "sound.npz")
    again = load_trace(tmp_path / "sound.npz")
    assert isinstance(again.source, SoundSource)
    assert again.source.waveform.samples.tolist() == [-32_768, 0, 32_767]
    assert (again.source.waveform.rate, again.source.waveform.seconds_per_frame) == (50, 0.024)
    assert again.source.names[:3] == ("0.000\u202fs", "0.024\u202fs", "0.048\u202fs")
    # Three samples last 0.06 s: the fourth frame begins after them.
    assert again.source.sounding == 3 < len(again.source.names)
    assert (again.key, again.source.caption) == (trace.key, trace.source.caption)
    assert again.key != of_sound(trace, [-32_768, 0, 32_766]).key


@pytest.mark.parametrize(
    "sound",
    [
        {"rate": 0, "seconds_per_frame": 0.02},
        {"rate": 50, "seconds_per_frame": 1e999},
        {"rate": 50, "seconds_per_frame": -0.02},
        {"rate": 50},
        7,
    ],
)
def test_a_sound_of_nonsense_is_refused(translator: Translator, sound: object, tmp_path: Path) -> None:
    write_trace(of_sound(translator.trace("Tom."), [1, 2]), file := BytesIO())
    with np.load(BytesIO(file.getvalue())) as held:
        arrays = with_header(dict(held), lambda header: header.update(sound=sound))
    np.savez(tmp_path / "bad.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"bad\.npz"):
        load_trace(tmp_path / "bad.npz")


def test_edits_survive_saving_and_loading(translator: Translator, tmp_path: Path) -> None:
    edits = [
        MakeUniform("encoder.self", 0, 1, row=2),
        PointAt("decoder.self", 1, 0, 1, since=1),
        SwitchOff("decoder.cross", 0, 3, row=40),
    ]
    trace = translator.trace(SENTENCES[0], edits=edits)
    save_trace(trace, tmp_path / "edited.npz")
    again = load_trace(tmp_path / "edited.npz")
    assert again.edits == trace.edits == tuple(edits)
    for site in trace.sites:
        for layer in range(2):
            assert torch.equal(again.weights(site, layer), trace.weights(site, layer))


def test_files_that_are_no_trace_are_refused(translator: Translator, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
            return (Path.touch, (tmp_path / "pwned",))

    path = tmp_path / "trace.npz"
    save_trace(translator.trace("Tom."), path)
    whole = path.read_bytes()
    contents = {"cut": whole[: len(whole) // 2], "text": b"hello", "empty": b"", "pickle": pickle.dumps(Evil())}
    for name, content in contents.items():
        bad = tmp_path / f"{name}.npz"
        bad.write_bytes(content)
        with pytest.raises(TraceError, match=name):
            load_trace(bad)
    with np.load(path) as arrays:
        values = dict(arrays)
    np.savez(tmp_path / "object.npz", **{**values, "encoder.self/0/query": np.array([Evil()], dtype=object)})
    np.savez(tmp_path / "shape.npz", **{**values, "encoder.self/0/key": np.zeros((4, 1, 8), np.float32)})
    np.savez(tmp_path / "json.npz", **{**values, "trace.json": np.frombuffer(b'{"format": "x"}', np.uint8)})
    for name in ("object", "shape", "json"):
        with pytest.raises(TraceError, match=name):
            load_trace(tmp_path / f"{name}.npz")
    assert not (tmp_path / "pwned").exists()
    with pytest.raises(TraceError, match="no file"):
        load_trace(tmp_path / "missing.npz")


@pytest.fixture(scope="module")
def arrays(translator: Translator) -> dict[str, np.ndarray]:
    write_trace(translator.trace("Tom."), file := BytesIO())
    with np.load(BytesIO(file.getvalue())) as held:
        return dict(held)


def with_header(arrays: dict[str, np.ndarray], change: Callable[[dict[str, Any]], object]) -> dict[str, np.ndarray]:
    header = json.loads(arrays["trace.json"].tobytes())
    change(header)
    return arrays | {"trace.json": np.frombuffer(json.dumps(header).encode(), np.uint8)}


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["sites"]["encoder.self"][0].update(first_query=1e999),
        lambda header: header["sites"].update({"encoder.self": []}),
        lambda header: header.update(steps=[[]]),
        lambda header: header.update(source_tokens=7),
        lambda header: header.update(source="smell"),
        lambda header: header.update(source="picture"),
        lambda header: header.update(source="sound"),
        lambda header: header.update(format="\ud800" * 1_000),
        lambda header: header.update(translation="\ud800"),
        lambda header: header.update(roles=["<b>"] * len(header["target_ids"])),
        lambda header: header.update(roles=7),
    ],
)
def test_a_header_of_nonsense_is_said_in_a_sentence(
    arrays: dict[str, np.ndarray], change: Callable[[dict[str, Any]], object], tmp_path: Path
) -> None:
    np.savez(tmp_path / "bad.npz", **with_header(arrays, change))  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"bad\.npz") as error:
        load_trace(tmp_path / "bad.npz")
    assert len(str(error.value).encode("utf-8")) < 500


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("encoder.self/0/query", lambda array: array.astype(np.complex64)),
        ("encoder.self/0/query", lambda array: array[0]),
        ("encoder.self/0/key", lambda array: array[0, 0, 0]),
        ("encoder.self/0/value", lambda array: array.astype(np.int64)),
        ("encoder.self/0/sinks", lambda array: np.zeros(3, np.float32)),
    ],
    ids=["complex", "flat", "one number", "whole numbers", "too few sinks"],
)
def test_arrays_of_another_type_or_shape_are_said_in_a_sentence(
    arrays: dict[str, np.ndarray], name: str, change: Callable[[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    np.savez(tmp_path / "bad.npz", **{**arrays, name: change(arrays.get(name, np.zeros(0)))})  # type: ignore[arg-type]
    with pytest.raises(TraceError, match=r"bad\.npz"):
        load_trace(tmp_path / "bad.npz")


def test_a_header_that_speaks_of_more_memory_than_there_is_is_said_in_a_sentence(tmp_path: Path) -> None:
    content = BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "|u1", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(tmp_path / "bad.npz", "w") as archive:
        archive.writestr("trace.json.npy", content.getvalue())
    with pytest.raises(TraceError, match=r"bad\.npz"):
        load_trace(tmp_path / "bad.npz")
