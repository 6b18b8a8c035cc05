"""The atlas of a speech model: recordings with their word times, heads that keep time, and sets of them."""

from io import BytesIO

import pytest
import soundfile
from streamlit.testing.v1 import AppTest

from model.adapters.speech_reader import SpeechReader
from model.analysis.timing.transcript import transcript_of
from tests.model.adapters import speech_zoo
from tests.patience import PATIENCE
from tests.viz.page_run import healthy, said
from tests.viz.pages.atlas.opening import forget, maps, opened, sentences
from tests.viz.sent import unlinked
from viz.access import models
from viz.access.given_files import FILES, given
from viz.server.background_jobs import Job

File = tuple[str, bytes, str]


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    forget()
    return any_model


def wav(name: str, seed: int) -> File:
    file = BytesIO()
    sound = speech_zoo.sound(1.1, seed)
    soundfile.write(file, sound.samples, sound.rate, format="WAV")
    return name, file.getvalue(), "audio/wav"


def measured(app: AppTest) -> AppTest:
    """The page once its job is done."""
    job = app.session_state["long-work/atlas-recordings"]
    assert isinstance(job, Job)
    assert job.wait(PATIENCE)
    return healthy(app.run())


def test_recordings_without_times_show_agreement_which_is_not_accuracy(app: AppTest) -> None:
    opened(app, checkpoint="whisper")
    app.file_uploader(key="atlas-recordings").set_value([wav("a.wav", 1), wav("b.wav", 2), ("c.csv", b"word\n", "")])
    shown = measured(app.run())
    keys = [each["key"] for each in maps(shown)["maps"]]
    assert "timing_apart" in keys
    assert "timing_error" not in keys
    assert "that is agreement, not accuracy" in said(shown)
    assert "expected the columns word" in unlinked(shown.warning[0].value)
    assert shown.selectbox(key="corpus_metric").value == "timing_apart"
    # A recording that is among the strongest in a metric opens at its head.
    shown = healthy(shown.selectbox(key="corpus_metric").set_value("entropy").run())
    assert {button.label[0] for button in sentences(shown)} == {"a", "b"}
    name = sentences(shown)[0].label[0]
    sentences(shown)[0].click().run()
    opened_file = healthy(shown).session_state["selection"].model.given_file
    assert given(FILES["sound"], opened_file)[0].startswith(f"{name}.wav")


def test_words_with_times_rank_heads_by_error_with_the_lag_apart_and_sets_are_said(app: AppTest) -> None:
    shown = opened(app, checkpoint="whisper")
    # The example's words are known; what a random model writes is none of them.
    shown = measured(shown)
    assert "The model wrote only 0 of the given words" in unlinked(shown.warning[0].value)
    names = "abcd"
    reader = models.reader(shown.session_state["selection"].model)
    assert isinstance(reader, SpeechReader)
    words = {}
    for seed, name in enumerate(names):
        sound = speech_zoo.sound(1.1, seed)
        written = transcript_of(reader.trace_sound(sound)).words
        rows = (f"{word.text.strip('.,')},{at / 20},{at / 20}\n" for at, word in enumerate(written))
        words[name] = "word,start,end\n" + "".join(rows)
    files = [*(wav(f"{name}.wav", seed) for seed, name in enumerate(names))]
    files += [(f"{name}.csv", text.encode(), "text/csv") for name, text in words.items()]
    app.file_uploader(key="atlas-recordings").set_value(files)
    app.run()
    next(button for button in app.button if button.label == "Measure 4 recordings").click().run()
    shown = measured(app)
    keys = [each["key"] for each in maps(shown)["maps"]]
    assert {"timing_error", "timing_lag", "timing_less_lag", "timing_apart"} <= set(keys)
    assert shown.selectbox(key="corpus_metric").value == "timing_error"
    errors = next(each for each in maps(shown)["maps"] if each["key"] == "timing_error")["texts"]
    common = shown.session_state["selection"].common
    assert float(errors[2 * common.layer + common.head]) == min(map(float, errors))
    assert "with word times: 4" in said(shown)
    assert [code.value for code in shown.code if "alignment_heads" in code.value]
