"""What a model did with a text is computed once, told step by step, and kept for all viewers."""

import pytest

from model import Trace
from model.errors import InputTextError
from tests.viz.reading import traced
from viz.access import models, traces
from viz.selection.selection import Selection
from viz.server.caches import BoundedCache

TEXT = "The animal was tired."


def test_a_sentence_is_traced_once(selection: Selection) -> None:
    assert traced(TEXT, selection) is traced(TEXT, selection)


def test_progress_is_told_after_every_token_and_not_for_a_known_text(selection: Selection) -> None:
    reported: list[tuple[int, int]] = []
    text, reader = "A text that nobody has translated before.", models.reader(selection.model)
    trace = traces.trace(reader, text, progress=lambda written, most: reported.append((written, most)))
    assert [written for written, _ in reported] == list(range(1, len(trace.steps) + 1))
    assert all(written <= most for written, most in reported)
    traces.trace(reader, text, progress=lambda written, most: pytest.fail("it was known"))


def test_sessions_leave_when_they_are_told_to(selection: Selection) -> None:
    writer = models.writer(selection.model)
    session = traces.session(writer, TEXT)
    assert traces.session(writer, TEXT) is session
    traces.forget_sessions()
    assert traces.session(writer, TEXT) is not session


def test_errors_are_not_cached(selection: Selection) -> None:
    for _ in range(2):
        with pytest.raises(InputTextError):
            traced("  ", selection)


def test_a_text_that_takes_more_than_all_may_is_still_read_once(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: BoundedCache[traces.CacheKey, Trace] = BoundedCache(8, 1)
    monkeypatch.setattr(traces, "_traces", lambda: kept)
    assert traced(TEXT, selection) is traced(TEXT, selection)
