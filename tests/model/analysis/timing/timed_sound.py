"""A folder for `python -m model timing`: a sound, and times of the words that a model writes about it."""

from pathlib import Path

import soundfile

from model.adapters.speech_reader import SpeechReader
from model.analysis.timing.transcript import transcript_of
from model.opening import open_reader
from tests.model.adapters import speech_zoo


def save_sound_with_times(model: Path, folder: Path) -> None:
    """Write tone.wav and tone.csv, with a word each tenth of a second."""
    folder.mkdir()
    sound = speech_zoo.sound()
    soundfile.write(folder / "tone.wav", sound.samples, sound.rate, subtype="FLOAT")
    reader = open_reader(model, "cpu")
    assert isinstance(reader, SpeechReader)
    words = transcript_of(reader.of_file(str(folder / "tone.wav")).trace("")).words
    rows = (f"{word.text.strip('.,')},{at / 10},{at / 10 + 0.1}\n" for at, word in enumerate(words))
    (folder / "tone.csv").write_text("word,start,end\n" + "".join(rows), encoding="utf-8")
