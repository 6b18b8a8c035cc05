"""Sounds of every format that is read come in as they are, and of any other file a sentence says what is wrong."""

import csv
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from model.errors import InputTextError
from model.sources.sound_file import EXAMPLE_WORDS, Sound, as_sound, example_sound, sound_of

PITCH, LOUDNESS = 440, 0.4
#: A format, a kind of samples, how many of them a second, and channels.
KINDS = [
    ("WAV", "PCM_U8", 11_025, 1), ("WAV", "PCM_16", 16_000, 2), ("WAV", "PCM_24", 96_000, 12),
    ("WAV", "PCM_32", 48_000, 5), ("WAV", "FLOAT", 44_100, 2), ("WAV", "DOUBLE", 192_000, 1), ("WAV", "ULAW", 8_000, 1),
    ("WAV", "ALAW", 8_000, 2), ("WAV", "IMA_ADPCM", 22_050, 1), ("WAV", "MS_ADPCM", 22_050, 2),
    ("WAVEX", "PCM_24", 48_000, 6), ("RF64", "PCM_16", 32_000, 3), ("FLAC", "PCM_S8", 8_000, 1),
    ("FLAC", "PCM_16", 44_100, 2), ("FLAC", "PCM_24", 96_000, 8), ("OGG", "VORBIS", 44_100, 2),
    ("OGG", "OPUS", 48_000, 1), ("MP3", "MPEG_LAYER_III", 16_000, 1), ("MP3", "MPEG_LAYER_III", 44_100, 2),
]  # fmt: skip
NAMES = [f"{kind}-{samples}-{rate}-{channels}" for kind, samples, rate, channels in KINDS]


def tone(rate: int, channels: int = 1, seconds: float = 0.5) -> np.ndarray[Any, Any]:
    """A tone [sample, channel], in each channel louder than in the one before, on the average of LOUDNESS."""
    times = np.arange(round(rate * seconds)) / rate
    shares = np.arange(1, channels + 1) * 2 / (channels + 1)
    return LOUDNESS * np.sin(2 * np.pi * PITCH * times)[:, None] * shares


def file_of(samples: np.ndarray[Any, Any], rate: int, kind: str = "WAV", subtype: str | None = None) -> bytes:
    file = BytesIO()
    soundfile.write(file, samples, rate, format=kind, subtype=subtype)
    return file.getvalue()


def of_kind(kind: tuple[str, str, int, int]) -> bytes:
    form, subtype, rate, channels = kind
    return file_of(tone(rate, channels), rate, form, subtype)


def pitch_and_loudness(sound: Sound) -> tuple[float, float]:
    """Of the strongest tone, in its middle: codecs fade in and out."""
    middle = sound.samples[len(sound.samples) // 4 : -len(sound.samples) // 4]
    heard = np.abs(np.fft.rfft(middle * np.hanning(len(middle)), 1 << 17))
    return float(heard.argmax()) * sound.rate / (1 << 17), float(np.sqrt(2 * np.mean(middle**2)))


@pytest.mark.parametrize("most_rate", [8_000, 192_000])
@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_a_sound_of_any_format_is_heard_in_its_pitch_length_and_loudness(
    kind: tuple[str, str, int, int], most_rate: int
) -> None:
    sound = sound_of(of_kind(kind), "a", most_rate)
    assert sound.rate == min(kind[2], most_rate)
    assert sound.samples.dtype == np.float32
    # The blocks of some codecs are whole.
    assert sound.seconds == pytest.approx(0.5, abs=0.08)
    pitch, loudness = pitch_and_loudness(sound)
    assert pitch == pytest.approx(PITCH, abs=2)
    assert loudness == pytest.approx(LOUDNESS, rel=0.05)


def read(content: bytes) -> Sound | str:
    """The sound of a file called "a.wav", or what is said of it."""
    try:
        return sound_of(content, "a.wav", 16_000)
    except InputTextError as error:
        return str(error)


@pytest.mark.parametrize("kept", [0.01, 0.03, 0.5, 0.95])
@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_of_a_file_that_was_cut_off_what_there_is_is_read_or_a_sentence_says_that_it_is_damaged(
    kind: tuple[str, str, int, int], kept: float
) -> None:
    content = of_kind(kind)
    sound = read(content[: int(len(content) * kept)])
    if isinstance(sound, str):
        assert sound.startswith("a.wav ")
    else:
        assert 0.1 <= sound.seconds <= 0.58
        assert pitch_and_loudness(sound)[0] == pytest.approx(PITCH, abs=12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS, ids=NAMES)
def test_a_file_whose_bytes_were_changed_is_read_or_refused(kind: tuple[str, str, int, int], seed: int) -> None:
    random = np.random.default_rng(seed)
    content = bytearray(of_kind(kind))
    for place in random.integers(0, (100, len(content))[seed % 2], 6):
        content[place] = random.integers(256)
    sound = read(bytes(content))
    assert sound.startswith("a.wav ") if isinstance(sound, str) else np.abs(sound.samples).max() <= 1


def picture() -> bytes:
    file = BytesIO()
    Image.new("RGB", (9, 7)).save(file, "PNG")
    return file.getvalue()


def wav(**changed: int) -> bytes:
    """A WAV file whose header says otherwise: values of two or four bytes at their places."""
    content = bytearray(file_of(tone(8_000), 8_000))
    places = {
        "riff": (4, 4),
        "format": (20, 2),
        "channels": (22, 2),
        "rate": (24, 4),
        "align": (32, 2),
        "bits": (34, 2),
    }
    for name, value in changed.items():
        place, size = places[name]
        content[place : place + size] = value.to_bytes(size, "little")
    return bytes(content)


def floats(value: float) -> bytes:
    samples = tone(8_000, 2)
    samples[17, 1] = value
    return file_of(samples, 8_000, "WAV", "FLOAT")


def silence(count: int, rate: int, kind: str) -> bytes:
    return file_of(np.zeros(count, np.int16), rate, kind)


#: What is given → what the sentence says.
REFUSED: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "nothing": (b"", "is not a sound"),
    "text": (b"RIFF is how it begins", "is not a sound"),
    "page": (b"<!doctype html><script>alert(1)</script>", "is not a sound"),
    "drawing": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not a sound"),
    "picture": (picture(), "is not a sound"),
    "film": (b"\0\0\0\x18ftypmp42" + bytes(900), "is not a sound"),
    "tag without music": (b"ID3\x04\0\0\0\0\0\x0a" + bytes(900), "is not a sound"),
    "noise": (b"\xff\xfb" + np.random.default_rng(1).bytes(3_000), "."),
    "format that is rarely used": (file_of(tone(8_000), 8_000, "AU", "PCM_16"), "is not a sound"),
    "format of another system": (file_of(tone(8_000), 8_000, "AIFF", "PCM_16"), "is not a sound"),
    "such a format behind a tag": (b"ID3\x04\0\0\0\0\0\0" + file_of(tone(8_000), 8_000, "AIFF"), "is not a sound"),
    "arrays": (file_of(tone(8_000), 8_000, "MAT5", "PCM_16"), "is not a sound"),
    "no channel": (wav(channels=0), "is not a sound"),
    "channels": (file_of(tone(8_000, 33), 8_000), "has 33 channels; at most 32"),
    "slow": (file_of(tone(1_000, 1, 3), 1_000), "has 1,000 samples a second"),
    "fast": (wav(rate=4_000_000_000), "samples a second|is not a sound"),
    "no rate": (wav(rate=0), "samples a second|is not a sound"),
    "unknown samples": (wav(format=0x4242), "is not a sound"),
    "samples of no bit": (wav(bits=0), "is not a sound"),
    "empty": (file_of(np.zeros((0, 2)), 8_000), r"is 0\.000 seconds long; expected at least 0\.1"),
    "short": (file_of(tone(8_000, 1, 0.09), 8_000), r"is 0\.090 seconds long; expected at least 0\.1"),
    "not a number": (floats(np.nan), "contains samples with the value nan"),
    "infinite": (floats(np.inf), "contains samples with the value inf"),
    "minus infinity": (floats(-np.inf), "contains samples with the value inf"),
    "scale of whole numbers": (
        floats(32_767),
        "contains samples with the value 3.28e.04; expected numbers from −1 to 1",
    ),
    "a moment too long": (lambda: silence(600 * 4_000 + 1, 4_000, "FLAC"), "longer than 10 minutes"),
    "long, by no header": (lambda: silence(601 * 8_000, 8_000, "MP3"), "longer than 10 minutes"),
    "large": (bytes((20 << 20) + 1), "is larger than 20 MB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_sound_or_beyond_the_limits_is_refused_in_a_sentence(name: str) -> None:
    content, said = REFUSED[name]
    with pytest.raises(InputTextError, match=said) as error:
        sound_of(content() if callable(content) else content, f"{name}.wav")
    assert str(error.value).startswith(f"{name}.wav ")


def test_silence_and_ten_minutes_are_sounds() -> None:
    sound = sound_of(silence(600 * 8_000, 8_000, "FLAC"), "a.flac", 4_000)
    assert (sound.seconds, sound.rate, np.abs(sound.samples).max()) == (600, 4_000, 0)


def test_a_file_that_is_a_little_too_loud_is_cut_to_the_range_as_players_do() -> None:
    assert sound_of(floats(1.9), "a").samples.max() < 1  # the mean with the other channel
    assert sound_of(file_of(3 * tone(8_000), 8_000, "WAV", "FLOAT"), "a").samples.max() == 1


@pytest.mark.parametrize(
    ("dtype", "scale"), [("float16", 1), ("float64", 1), ("int16", 1 << 15), ("int32", 1 << 31), ("uint8", 1 << 7)]
)
def test_an_array_of_any_kind_of_samples_is_the_same_sound(dtype: str, scale: int) -> None:
    samples = tone(8_000, 3) * scale + (128 if dtype == "uint8" else 0)
    sound = as_sound(samples.astype(dtype), 8_000)
    np.testing.assert_allclose(sound.samples, tone(8_000)[:, 0], atol=0.01)
    assert as_sound(sound) is sound


def test_a_window_is_cut_from_where_it_begins_and_ends_with_the_sound() -> None:
    sound = as_sound(np.linspace(-1, 1, 10_000), 5_000)
    window = sound.window(0.5, 0.25)
    np.testing.assert_array_equal(window.samples, sound.samples[2_500:3_750])
    assert sound.window(1.5, 30).seconds == 0.5
    for start in (2.0, 9.5):
        with pytest.raises(InputTextError, match=r"is 2\.0 seconds long; there is nothing from"):
            sound.window(start, 1)


def test_another_rate_keeps_the_sound_and_a_player_is_given_the_samples_of_the_file() -> None:
    sound = as_sound(tone(44_100), 44_100).resampled(16_000)
    assert (sound.rate, len(sound.samples)) == (16_000, 8_000)
    np.testing.assert_allclose(sound.samples[400:-400], tone(16_000)[400:-400, 0], atol=1e-3)
    whole = np.arange(-32_768, 32_768, 7, dtype=np.int16)
    played, rate = soundfile.read(BytesIO(sound_of(file_of(whole, 6_000), "a").wav()), dtype="int16")
    assert rate == 6_000
    np.testing.assert_array_equal(played, whole)


def test_the_example_has_a_word_where_its_file_says_and_silence_around_them() -> None:
    sound = example_sound()
    with EXAMPLE_WORDS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert " ".join(row["word"] for row in rows) == "The animal didn't cross the street because it was too tired"
    spans = [(float(row["start"]), float(row["end"])) for row in rows]
    assert spans == sorted(spans)
    loud = [np.abs(sound.window(start, end - start).samples).max() for start, end in spans]
    assert min(loud) > 0.05
    before, after = sound.window(0, spans[0][0] - 0.01), sound.window(spans[-1][1] + 0.05, 1)
    assert min(before.seconds, after.seconds) > 0.4
    assert max(np.abs(before.samples).max(), np.abs(after.samples).max()) < 0.01
