"""The recordings that an atlas of a speech model is made of, with the times of their words, and the atlas of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model.analysis.timing import later as heard
from model.errors import DataError, HeadlightError
from viz.access import models
from viz.access.given_files import FILES, LONGEST_PART, Given, given, keep, whole
from viz.selection.choices import ModelChoice
from viz.server.background_jobs import Progress, Task
from viz.text.messages import Message, said

if TYPE_CHECKING:
    from model.analysis.timing.recordings import MeasuredRecordings
    from model.analysis.timing.word_times import WordTime

#: How many sounds may be loaded at once; the command takes more.
MAX_RECORDINGS: Final = 32


@dataclass(frozen=True, slots=True)
class GivenRecording:
    """A sound, and when its words are spoken, as far as a person says it."""

    given_file: str  #: as the selection names it
    words: "tuple[WordTime, ...]"

    @property
    def name(self) -> str:
        """What an atlas calls it. Raises an InputTextError if it is not kept any more."""
        return str(given(FILES["sound"], self.given_file)[0])


def chosen(given_file: str, words: "tuple[WordTime, ...]" = ()) -> GivenRecording:
    """The sound that is chosen on the left; the times of the example's words are known."""
    if not given_file:
        words = words or heard.recordings.example_recording().given
    return GivenRecording(given_file, words)


def load(files: Sequence[tuple[str, bytes]], about: str) -> tuple[tuple[GivenRecording, ...], tuple[Message, ...]]:
    """The sounds among some files, each with the word times in the file that is called as it is; and what is wrong.

    Of a long sound, its beginning. A single file of word times without a sound is `about` the one that is chosen.
    """
    kind, bad = FILES["sound"], []
    times: dict[str, tuple[WordTime, ...]] = {}
    sounds: dict[str, str] = {}
    for name, content in files:
        path = Path(name)
        try:
            is_times = path.suffix.lower() in heard.word_times.READERS
            if path.stem in (times if is_times else sounds):
                raise DataError("{name} is skipped: an earlier file has the same name.", name=name)
            if is_times:
                times[path.stem] = heard.word_times.parse_word_times(content, name)
            elif len(sounds) < MAX_RECORDINGS:
                digest = keep(kind, content, name)
                is_long = whole(kind, digest)[1].seconds > LONGEST_PART
                sounds[path.stem] = Given(digest, tenths=10 * LONGEST_PART * is_long).written
            else:
                message = "{name} is skipped: at most {most} recordings are read here."
                raise DataError(message, name=name, most=MAX_RECORDINGS)
        except HeadlightError as error:
            bad.append(error.message)
    if not sounds and len(times) == 1:
        return (chosen(about, *times.values()),), tuple(bad)
    bad += [said("There is no sound called {stem}.", stem=stem) for stem in times if stem not in sounds]
    return tuple(GivenRecording(file, times.get(stem, ())) for stem, file in sounds.items()), tuple(bad)


def measuring(recordings: tuple[GivenRecording, ...], choice: ModelChoice) -> "Task[MeasuredRecordings]":
    """Reads all of them with a model that hears and writes. Raises as `models.reader`; the task as
    `measure_recordings`, or an InputTextError if a sound is not kept any more.
    """
    reader = heard.recordings.speech_writer(models.reader(choice))
    assert reader is not None, "asked for of a model that hears and writes"

    def compute(progress: Progress) -> "MeasuredRecordings":
        made = []
        for one in recordings:
            name, sound = given(FILES["sound"], one.given_file)
            made.append(heard.recordings.Recording(name, sound, one.words, Given.read(one.given_file).start / 10))
        return heard.recordings.measure_recordings(reader, made, progress)

    text = said("{done:,} of {total:,} {unit}, about {left:.0f} s left")
    return Task(("recordings", reader.key, recordings), len(recordings), said("recordings"), compute, text)
