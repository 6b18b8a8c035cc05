"""Words that a speech model writes, at the times that chosen heads give them: on pages, in files and in the film."""

from dataclasses import replace
from pathlib import Path

import pytest

from model.adapters.speech_reader import SpeechReader
from model.analysis.timing.transcript import transcript_of
from model.analysis.timing.word_times import parse_word_times
from model.opening import open_reader
from tests.model.adapters import speech_zoo
from viz.access import word_times
from viz.pages.decoding.film.data import film
from viz.selection.selection import Selection


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> SpeechReader:
    opened = open_reader(speech_zoo.save_whisper(tmp_path_factory.mktemp("words") / "whisper"), "cpu")
    assert isinstance(opened, SpeechReader)
    return opened.reading("tone", speech_zoo.sound(0.7, seed=1))


def test_words_are_timed_by_the_heads_of_the_address_else_by_the_models_own_else_by_the_open_one(
    reader: SpeechReader,
) -> None:
    opened = Selection().changed(layer=1, head=0)
    assert word_times.own_heads(reader) == ()
    assert word_times.chosen_heads(reader, opened) == ((1, 0),)
    # What names no head, as an address may, is nothing.
    chosen = opened.changed(timed_by=("L2H2", "L9H1", "<b>", "L1H2"))
    assert word_times.chosen_heads(reader, chosen) == ((0, 1), (1, 1))


def test_a_file_has_the_times_of_a_part_in_the_whole_recording(reader: SpeechReader, tmp_path: Path) -> None:
    trace, heads = reader.trace(""), ((0, 1), (1, 0))
    timed = word_times.timed_words(trace, heads)
    assert len(timed.words) > 2
    every = transcript_of(trace)
    bounds = [second for word in timed.words for second in (word.begin, word.end)]
    expected = [second for _word, *both in every.word_times((1, 2)) for second in both]
    assert bounds == pytest.approx(expected)
    assert [timed.steps[word.step] for word in timed.words] == [word.begin for word in timed.words]
    for ending in word_times.endings():
        read = parse_word_times(word_times.as_file(trace, heads, "digest/105/7", ending), f"a{ending}")
        # Words that begin together are one entry.
        starts = sorted({round(10.5 + word.begin, 3) for word in timed.words})
        assert [word.start for word in read] == pytest.approx(starts)


def test_a_translation_has_no_times_and_a_film_has_the_sound_where_there_are_some(reader: SpeechReader) -> None:
    assert "The words of a translation and their order differ" in word_times.why_none(
        reader.speaking("de", "translate")
    )
    assert word_times.why_none(reader) == ""
    session, heads = reader.decode(""), ((1, 1),)
    session.run()
    trace = session.trace()
    assert word_times.are_there(trace)
    assert not word_times.are_there(replace(trace, steps=()))
    made, silent = film(trace, reader, heads), film(trace, reader)
    assert silent.lane is None
    assert made.lane is not None
    assert list(made.lane.times) == list(word_times.timed_words(trace, heads).steps)
    assert len(made.lane.times) == len(made.steps)
    # The silence that was added is one more column.
    assert made.moments == len(made.source_tokens) - 1
