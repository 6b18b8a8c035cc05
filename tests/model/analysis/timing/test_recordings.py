"""An atlas of recordings: what the decoder's heads do over them, and how well those of cross-attention keep time."""

import numpy as np
import pytest
import torch

from model.adapters.speech_reader import SpeechReader
from model.analysis.metrics.head_metrics import TIMING, LayerHead
from model.analysis.timing.recordings import Recording, measure_recordings
from model.analysis.timing.scores import agreement, score_timing
from model.analysis.timing.transcript import transcript_of
from model.analysis.timing.word_times import WordTime
from model.errors import InputTextError, TraceError
from model.nn.attention import entropy_bits
from model.opening import open_reader
from tests.model.adapters import speech_zoo

HEADS = [LayerHead(layer, head) for layer in range(2) for head in range(2)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> SpeechReader:
    opened = open_reader(speech_zoo.save_whisper(tmp_path_factory.mktemp("atlas") / "whisper"), "cpu")
    assert isinstance(opened, SpeechReader)
    return opened


def recordings(reader: SpeechReader, *, timed: bool) -> list[Recording]:
    """Two sounds; of the second, which begins at 3 s, a person says when its words are spoken."""
    first, second = (speech_zoo.sound(seconds, seed) for seconds, seed in ((0.7, 1), (0.9, 2)))
    words = transcript_of(reader.trace_sound(second)).words
    given = tuple(WordTime(word.text, 3 + at / 20, 4 + at / 20) for at, word in enumerate(words))
    return [Recording("first", first), Recording("second", second, given if timed else (), begin=3.0)]


def test_heads_have_what_an_atlas_has_of_sentences_and_how_far_they_are_from_given_times(reader: SpeechReader) -> None:
    measured = measure_recordings(reader, read := recordings(reader, timed=True))
    atlas, timing, refused = measured
    assert not refused
    traces = [reader.trace_sound(recording.sound, name=recording.name) for recording in read]
    transcripts = [
        transcript_of(trace, recording.given, recording.begin) for trace, recording in zip(traces, read, strict=True)
    ]
    expected = score_timing(transcripts, HEADS)
    assert timing is not None
    assert (timing.sounds, timing.words) == (1, expected.words)
    for name, estimate in zip(
        TIMING[:3], (expected.each.error, expected.each.lag, expected.each.without_lag), strict=True
    ):
        table = atlas.metrics[name]
        assert np.isnan(table[:2]).all()
        np.testing.assert_allclose(table[2].ravel(), estimate.value, atol=1e-6)
        np.testing.assert_allclose(atlas.intervals[name][2].reshape(4, 2)[:, 1], estimate.high, atol=1e-6)
        assert atlas.rows[name] == (0, 0, expected.words)
    # The lag is with its sign: two heads differ in it.
    assert len(set(atlas.metrics["timing_lag"][2].ravel().tolist())) > 1
    assert list(atlas.heads) == ["decoder.self", "decoder.cross"]
    assert atlas.texts == ("first", "second")
    rows = torch.cat([entropy_bits(trace.weights("decoder.cross", 1)[1]) for trace in traces])
    assert atlas.metrics["entropy"][2, 1, 1] == pytest.approx(float(rows.mean()), abs=1e-4)


def test_without_given_times_there_is_only_agreement(reader: SpeechReader) -> None:
    read = recordings(reader, timed=False)
    atlas, timing, refused = measure_recordings(reader, read)
    assert (timing, refused) == (None, "")
    assert [name for name in atlas.metrics if name in TIMING] == ["timing_apart"]
    apart = agreement([transcript_of(reader.trace_sound(recording.sound)) for recording in read]).value
    np.testing.assert_allclose(atlas.metrics["timing_apart"][2].ravel(), apart, atol=1e-6)


def test_a_translation_and_sounds_of_which_none_can_be_read_are_refused(reader: SpeechReader) -> None:
    read = recordings(reader, timed=False)
    with pytest.raises(TraceError, match="The words of a translation and their order differ"):
        measure_recordings(reader.speaking("", "translate"), read)
    too_long = Recording("long", speech_zoo.sound(2.0))
    with pytest.raises(InputTextError, match="reads at most 1 s at once"):
        measure_recordings(reader, [too_long])
    assert measure_recordings(reader, [*read, too_long]).atlas.sentences == 2
