"""The open head over a sound: what is sent to be drawn and played, against plain numpy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.sources.source import SoundSource, Waveform
from tests.viz.page_run import app_of, opened, traced
from tests.viz.sent import sent_to, unpack
from viz.access import attention, models
from viz.access.attention import MatrixView
from viz.pages.attention.opened_head.sound_panel import over_time, shortest_stretch
from viz.pages.attention.opened_head.spectrogram import log_mel
from viz.pictures.payload import pack
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import CROSS, ENCODER

TEXT = "The animals that cannot swim crossed."
RATE = 16_000


@pytest.mark.parametrize("is_long", [False, True], ids=["short", "too long for a whole layer"])
def test_each_row_is_sent_exactly_with_what_it_gives_after_the_sound(
    is_long: bool, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    monkeypatch.setattr(attention, "SHORT", 4 if is_long else 512)
    selection = Selection().changed(checkpoint="en-de", text=TEXT, layer=1, head=2, whole_words=True)
    read = traced(TEXT, selection)
    # The tokens of the text stand for frames of 20 ms, of which a sound of 0.09 s has five.
    frames = len(read.source_tokens)
    wave = Waveform(samples=torch.arange(1_440, dtype=torch.int16), rate=RATE, seconds_per_frame=0.02)
    trace = replace(read, source=SoundSource.of_frames("a.wav", wave, frames))
    common = selection.common
    header, arrays = unpack(pack(over_time(trace, models.reader(selection.model), common, kept=None)))
    samples, _, weights, after = arrays
    queries, _ = attention.shown_axes(trace, CROSS, MatrixView.of(common))
    assert attention.is_long(trace, CROSS) == is_long
    assert max(map(len, queries.groups)) > 1
    held = trace.weights(CROSS, 1)[2].numpy()
    expected = np.stack([held[list(group)].mean(0) for group in queries.groups])
    np.testing.assert_allclose(weights.reshape(-1, 5), expected[:, :5], atol=1e-6)
    np.testing.assert_allclose(after, expected[:, 5:].sum(1), atol=1e-5)
    np.testing.assert_array_equal(samples, np.arange(1_440))
    assert header["rowTokens"] == [label.removeprefix("▁") for label in queries.labels]
    assert header["isFilled"]


def test_a_speech_model_shows_weights_on_its_sound_above_the_matrix_and_nothing_else_there(any_model: AppTest) -> None:
    app = opened(any_model, checkpoint="whisper", site=CROSS)
    ((over_sound, _),), ((matrix, _),) = (
        sent_to(app, component) for component in ("sound_attention", "matrix_picture")
    )
    assert over_sound["rowTokens"] == matrix["rowTokens"]
    assert over_sound["title"] == matrix["title"]
    for other in ({"site": CROSS, "measure": "norms"}, {"site": ENCODER}):
        app = opened(app_of(checkpoint="whisper", **other))
        assert sent_to(app, "matrix_picture")
        assert not sent_to(app, "sound_attention")


@pytest.mark.parametrize("share", [0.3, 0.8, 1.0])
def test_no_run_that_holds_the_share_is_shorter_than_the_stretch(share: float) -> None:
    rng = np.random.default_rng(5)
    for frames in (1, 7, 60):
        weights = rng.random(frames) ** 4
        first, end = shortest_stretch(weights, share)
        needed = share * weights.sum() - 1e-9
        assert weights[first:end].sum() >= needed
        shorter = range(frames - (end - first) + 2)
        assert all(weights[at : at + end - first - 1].sum() < needed for at in shorter)
    assert shortest_stretch(np.zeros(4), share) == (0, 0)


def test_a_tone_is_drawn_in_its_band_while_it_sounds_and_silence_is_empty() -> None:
    time = np.arange(3 * RATE) / RATE
    tone = 20_000 * np.sin(2 * np.pi * 1_000 * time) * ((time >= 1) & (time < 2))
    drawn = log_mel(tone.astype(np.int16), RATE)
    bands, columns = drawn.shape
    # 1,000 Hz are 1,000 mel, of the 2,840 that 8,000 Hz are.
    assert set(drawn[:, columns // 3 + 2 : 2 * columns // 3 - 2].argmax(0)) == {round(bands * 1_000 / 2_840)}
    assert drawn[:, columns // 2].max() == 255
    assert not drawn[:, : columns // 3 - 2].any()
    assert not log_mel(np.zeros(RATE, np.int16), RATE).any()


def test_a_long_sound_is_drawn_with_as_many_columns_as_a_picture_has_room_for() -> None:
    noise = np.random.default_rng(1).integers(-9_000, 9_000, 30 * RATE).astype(np.int16)
    assert log_mel(noise, RATE).shape[1] <= 600


def test_a_speech_model_opens_on_the_moment_of_a_word_that_its_head_is_least_used_to(any_model: AppTest) -> None:
    app = opened(any_model, checkpoint="whisper")
    ((headline, _),), ((over_sound, numbers),) = (
        sent_to(app, component) for component in ("headline", "sound_attention")
    )
    written, name, _, weight, place = headline["suggestion"]
    assert (headline["site"], name) == (CROSS, over_sound["title"])
    row = over_sound["kept"]
    assert over_sound["rowTokens"][row].rpartition(" → ")[2] in written
    moment = int(float(place.removeprefix(" of its weight to ").removesuffix("s.")) / 0.02 + 0.5)
    assert f"{numbers[2].reshape(len(over_sound['rowTokens']), -1)[row, moment]:.4f}" == weight
