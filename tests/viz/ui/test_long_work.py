"""Long work on a page: started, watched, stopped, and waited for where a page has nothing else to show."""

import threading
import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from model.errors import DataError
from tests.patience import PATIENCE
from viz.server import background_jobs
from viz.server.background_jobs import Progress, Task
from viz.server.job_queue import JobQueue

#: What the pages below compute; they run in another module, which finds it here.
TASKS: dict[str, Task[str]] = {}


def beside_a_page() -> None:
    import streamlit as st

    from tests.viz.ui.test_long_work import TASKS
    from viz.ui import long_work

    st.button("Elsewhere")
    st.write(long_work.outcome(TASKS["task"], "Begin", key="work") or "nothing yet")


def before_a_page() -> None:
    import streamlit as st

    from tests.viz.ui.test_long_work import TASKS
    from viz.ui import frame, long_work

    with frame.errors_shown():
        st.write(long_work.awaited(TASKS["task"], key="work"))


def of_two(go_on: threading.Event) -> Callable[[Progress], str]:
    """Two units of work, between which it waits."""

    def compute(progress: Progress) -> str:
        progress(1)
        assert go_on.wait(PATIENCE)
        progress(1)
        return "done"

    return compute


def until(app: AppTest, shown: str) -> AppTest:
    """Look again and again until a text is on the page."""
    last = time.monotonic() + PATIENCE
    while not any(shown in element.value for element in [*app.markdown, *app.info, *app.error]):
        assert time.monotonic() < last, f"{shown!r} never came"
        app.run()
    return app


def test_a_button_starts_work_that_goes_on_whatever_else_is_clicked() -> None:
    go_on = threading.Event()
    TASKS["task"] = Task("survives", 2, "units", of_two(go_on))
    app = AppTest.from_function(beside_a_page).run()
    app.button(key="work-start").click().run()
    assert app.button(key="work-stop").label == "Stop"
    app.button[0].click().run()
    assert app.markdown[0].value == "nothing yet"
    go_on.set()
    until(app, "done")
    # Another session has it at once.
    assert AppTest.from_function(beside_a_page).run().markdown[0].value == "done"


def test_stopped_work_says_so_and_can_be_begun_again() -> None:
    go_on = threading.Event()
    TASKS["task"] = Task("stopped", 2, "units", of_two(go_on))
    app = AppTest.from_function(beside_a_page).run()
    app.button(key="work-start").click().run()
    app.button(key="work-stop").click().run()
    go_on.set()
    until(app, "Stopped after 2 of 2 units")
    app.button(key="work-start").click().run()
    until(app, "done")


def test_an_error_is_a_sentence_beside_the_button() -> None:
    def compute(progress: Progress) -> str:
        raise DataError("Expected a pair.")

    TASKS["task"] = Task("wrong", 1, "units", compute)
    app = AppTest.from_function(beside_a_page).run()
    until(app.button(key="work-start").click().run(), "Expected a pair")
    assert app.button(key="work-start").label == "Begin"


def test_a_page_that_needs_a_result_waits_for_it() -> None:
    go_on = threading.Event()
    TASKS["task"] = Task("awaited", 2, "units", of_two(go_on))
    threading.Timer(1.0, go_on.set).start()
    app = AppTest.from_function(before_a_page, default_timeout=PATIENCE).run()
    assert app.markdown[0].value == "done"
    assert not app.button


def two_on_a_page() -> None:
    import streamlit as st

    from tests.viz.ui.test_long_work import TASKS
    from viz.ui import long_work

    st.write(long_work.outcome(TASKS["first"], "Measure", key="first", start=True) or "nothing yet")
    st.write(long_work.outcome(TASKS["second"], "Search", key="second", start=True) or "nothing yet")


def test_a_viewers_second_long_work_says_what_it_waits_for_and_can_stop_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_jobs, "LONG_JOBS", JobQueue(4, of_one=1))
    monkeypatch.setattr(background_jobs, "SHORT", 0.0)
    go_on = threading.Event()
    TASKS["first"] = Task("the first of two", 2, "units", of_two(go_on))
    TASKS["second"] = Task("the second of two", 2, "units", of_two(go_on))
    app = AppTest.from_function(two_on_a_page, default_timeout=PATIENCE).run()
    shown = [bar.proto.text for bar in app.get("progress")]
    assert "Waiting for your other computation (“Measure”: 1 of 2 units). Stop that one?" in shown
    assert [button.key for button in app.button] == ["first-stop", "second-stop-other", "second-stop"]
    app.button(key="second-stop-other").click().run()
    go_on.set()
    until(app, "done")
    assert [text.value.replace("\\", "") for text in app.info] == ["Stopped after 2 of 2 units."]
