"""The field for a sound: a file or a recording, whichever came last; a part of a long one; what is wrong with one."""

from io import BytesIO

import numpy as np
import pytest
import soundfile
from streamlit.testing.v1 import AppTest

from model.errors import InputTextError
from tests.patience import PATIENCE
from tests.viz.page_run import healthy
from tests.viz.sent import unlinked
from viz.access.given_files import FILES, given, keep

SOUND = FILES["sound"]


def page() -> None:
    import streamlit as st

    from viz.access.given_files import FILES
    from viz.selection import state
    from viz.selection.selection import Selection
    from viz.ui import given_file

    if "begun" not in st.session_state:
        st.session_state["begun"] = True
        state.put(Selection())
    given_file.field(FILES["sound"])


@pytest.fixture
def app() -> AppTest:
    return healthy(AppTest.from_function(page, default_timeout=PATIENCE).run())


def wav(seconds: int, level: float) -> tuple[str, bytes, str]:
    """A file of one level, by which it is known."""
    file = BytesIO()
    soundfile.write(file, np.full(seconds * 4_000, level), 4_000, format="WAV")
    return "a.wav", file.getvalue(), "audio/wav"


def read(app: AppTest) -> tuple[str, float, float]:
    """What the model would be given: its name, length and loudness."""
    name, sound = given(SOUND, app.session_state["selection"].model.given_file)
    return name, sound.seconds, float(np.abs(sound.samples).max())


def test_without_a_file_the_example_is_read_and_played(app: AppTest) -> None:
    assert read(app)[0] == "example sound"
    assert len(app.get("audio")) == 1
    assert "spoken by a synthesizer" in unlinked(app.caption[0].value)


def test_of_a_file_and_a_recording_the_one_that_came_last_is_read(app: AppTest) -> None:
    app.file_uploader(key="given-file").set_value(wav(2, 0.25))
    assert read(healthy(app.run()))[1:] == (2, 0.25)
    app.audio_input(key="recorded-file").set_value(wav(3, 0.5))
    assert read(healthy(app.run()))[1:] == (3, 0.5)
    app.file_uploader(key="given-file").set_value(wav(4, 0.75))
    assert read(healthy(app.run()))[1:] == (4, 0.75)
    # A short sound is read whole.
    assert not app.slider


def test_a_part_of_a_long_sound_is_chosen_and_another_file_begins_at_its_beginning(app: AppTest) -> None:
    app.file_uploader(key="given-file").set_value(wav(40, 0.25))
    name, *heard = read(healthy(app.run()))
    assert heard == [30, 0.25]
    assert len(app.get("image")) == 1
    assert name.endswith(" · 0.0–30.0 s")
    app.slider(key="part-start").set_value(17.5)
    app.number_input(key="part-seconds").set_value(5.0)
    name, *heard = read(healthy(app.run()))
    assert heard == [5, 0.25]
    assert name.endswith(" · 17.5–22.5 s")
    # The last part is as long as the sound is.
    app.slider(key="part-start").set_value(39.0)
    assert read(healthy(app.run()))[1] == 1
    app.file_uploader(key="given-file").set_value(wav(50, 0.5))
    assert read(healthy(app.run()))[0].endswith(" · 0.0–30.0 s")


def test_a_file_that_is_no_sound_is_said_and_the_example_read(app: AppTest) -> None:
    app.file_uploader(key="given-file").set_value(wav(2, 0.25))
    app.run()
    app.file_uploader(key="given-file").set_value(("<b>.wav", b"RIFF", "audio/wav"))
    app.run()
    assert not app.exception
    assert "is not a sound that can be read" in app.error[0].value
    assert read(app)[0] == "example sound"


@pytest.mark.usefixtures("shared")
def test_a_shared_server_takes_a_sound_as_large_as_any_server_and_no_larger(app: AppTest) -> None:
    uploader = app.file_uploader(key="given-file")
    assert uploader.proto.max_upload_size_mb == 20
    # What the browser checks, a forged message does not.
    uploader.proto.max_upload_size_mb = 200
    uploader.set_value(("large.wav", bytes((20 << 20) + 1), "audio/wav"))
    app.run()
    assert not app.exception
    assert "the limit is 20 MB" in app.error[0].value


def test_a_sound_that_was_given_is_no_picture() -> None:
    name, content, _type = wav(1, 0.25)
    given_file = keep(SOUND, content, name)
    with pytest.raises(InputTextError, match="picture is no longer available"):
        given(FILES["picture"], given_file)
