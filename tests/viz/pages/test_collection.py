"""The collection of pinned views: its list in the head of every page, its presentation, and its file."""

from html import unescape
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import sent_to, unlinked, unpack
from viz.access import models, traces
from viz.pictures.offline import Drawing
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import PAGES, Selection
from viz.selection.url import MAX_PINS, Pin, decode, encode
from viz.text.html import literal
from viz.ui.collection.page_file import page_file, seen

TEXT = (("checkpoint", "en-de"), ("text", "She read."))
HEAD = Pin("attention", (("head", "L2H2"), ("site", "encoder.self"), *TEXT), "Look <b>here</b>")
BAR = "present_steps"
GRID, FILM, COMPARED = (Pin(page, TEXT) for page in ("attention", "decoding", "coreference"))

pytestmark = pytest.mark.usefixtures("chosen")


def collection(*kept: Pin, **address: object) -> AppTest:
    return opened(app_of(collection=1, pins=encode(kept), **address))


def kept_in(app: AppTest) -> tuple[Pin, ...]:
    return decode(app.session_state["selection"].common.pins)


def titles(app: AppTest) -> str:
    return " ".join(unlinked(part.value) for part in app.markdown)


def file_of(*pins: Pin) -> str:
    return page_file([(pin, pin.selection) for pin in pins]).decode()


def numbers_of(drawing: Drawing | str) -> list[np.ndarray]:
    assert isinstance(drawing, Drawing)
    return unpack(drawing.parts[-1].payload)[1]


def test_captions_order_and_views_can_be_changed_on_every_page() -> None:
    app = collection(HEAD, FILM, text="Another.")
    assert "All heads · L2 H2" in titles(app)
    fields = [field for field in app.text_input if field.label == "Caption"]
    assert [field.value for field in fields] == [HEAD.caption, ""]
    fields[0].set_value("Another").run()
    assert kept_in(healthy(app))[0].caption == "Another"
    app.button("pin-Move down-0").click().run()
    assert [pin.page for pin in kept_in(healthy(app))] == ["decoding", "attention"]
    assert kept_in(app)[1].caption == "Another"
    ends = [app.button(f"pin-Move {way}-{number}").disabled for number in (0, 1) for way in ("up", "down")]
    assert ends == [True, False, False, True]
    app.button("pin-Remove from the collection-0").click().run()
    assert [pin.page for pin in kept_in(healthy(app))] == ["attention"]
    app.button("pin-Open-0").click().run()
    assert "pins" not in healthy(app).query_params
    assert (app.query_params["head"], app.query_params["text"]) == ("L2H2", "She read.")


def test_the_open_view_is_pinned_and_unpinned_by_itself_until_the_collection_is_full() -> None:
    app = collection(FILM, checkpoint="en-de", text="Another.")
    app.button("pin-view").click().run()
    assert [pin.page for pin in kept_in(healthy(app))] == ["decoding", "attention"]
    # A link has its text even where that is the usual one, which may be another elsewhere.
    assert dict(kept_in(app)[1].params) == {"checkpoint": "en-de", "text": "Another."}
    assert app.button("pin-view").label == "Unpin this view"
    app.button("pin-view").click().run()
    assert kept_in(healthy(app)) == (FILM,)
    full = collection(*[FILM] * MAX_PINS, checkpoint="en-de", text="Another.")
    assert full.button("pin-view").disabled
    assert any("The collection is full" in unlinked(caption.value) for caption in full.caption)


def test_a_presentation_of_the_collection_begins_on_its_first_view_and_stays_on_the_one_of_its_address() -> None:
    app = collection(FILM, HEAD, lang="en")
    app.button("pins-present").click().run()
    for title, step in (("Decode", 0), ("Attention", 1)):
        assert healthy(app).title[0].value == title
        ((bar, _),) = sent_to(app, BAR)
        assert (bar["step"], bar["count"]) == (step, 2)
        app = collection(FILM, HEAD, present=1, pin=2, text="She read.")
    assert HEAD.caption in " ".join(part.proto.body for part in app.get("html")).replace("&lt;", "<").replace(
        "&gt;", ">"
    )


def test_a_presentation_goes_through_each_screen_of_a_view_of_several_and_stays_in_its_section(
    recorded_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(recorded_checkpoints))
    training = Pin("model_card", (("about", "Data and training"), ("checkpoint", "en-de")))
    for screen in (0, 1):
        app = app_of(collection=1, pins=encode((HEAD, training, FILM)), present=1, pin=2, screen=screen)
        ((bar, _),) = sent_to(opened(app, "model_card", **dict(training.params)), BAR)
        assert (bar["step"], bar["count"]) == (1 + screen, 4)
        assert [part.value for part in app.subheader] == ["Data and training"]
        tables = " ".join(part.proto.body for part in app.get("html"))
        assert (len(app.get("plotly_chart")), "Training data" in tables) == ((1, False), (0, True))[screen]
    # Of views that were not opened yet, a trail has two screens: what is asked, and what is read back.
    why = Pin("attention", (("view", "Why"), ("trail", "c0"), *TEXT))
    ((bar, _),) = sent_to(opened(app_of(collection=1, pins=encode((FILM, why)), present=1, pin=1), "decoding"), BAR)
    assert bar["count"] == 3
    # A page that is opened meanwhile, with screens of its own, is not taken for the view.
    app = app_of(collection=1, pins=encode((HEAD, FILM)), present=1, pin=1)
    ((bar, _),) = sent_to(opened(app, "model_card", **dict(training.params)), BAR)
    assert bar["count"] == 2


def test_a_trail_of_a_view_stays_where_the_view_before_has_the_same_one_in_another_cell() -> None:
    asked = (("view", "Why"), ("site", "decoder.cross"), ("head", "L2H1"), ("trail", "c0"), *TEXT)
    cells = [Pin("attention", (*asked, ("token", str(row)), ("key_token", "1"))) for row in (1, 2)]
    app = collection(*cells)
    for number in (0, 1):
        app.button(f"pin-Open-{number}").click().run()
        assert healthy(app).query_params["trail"] == "c0"
        assert app.query_params["token"] == str(number + 1)
        app.session_state["selection"] = app.session_state["selection"].changed(collection=True)
        app.run()


def test_every_kind_of_view_is_in_the_file_and_one_that_will_not_do_leaves_the_others_alive() -> None:
    others = [Pin(page, TEXT) for page in PAGES if page not in ("attention", "decoding", "coreference")]
    gone = Pin("attention", (("checkpoint", "en-de"), ("text", " ")))
    text = file_of(HEAD, GRID, FILM, COMPARED, *others, gone)
    assert text.count("<figure>") == 5 + len(others)
    assert text.count('<div id="picture-') == 5
    assert text.count("Candidate") == 1
    assert text.count("no small picture of it") == len(others)


def test_the_file_has_what_people_wrote_as_text_and_asks_for_nothing() -> None:
    hostile = "</script><!-- <i>"
    pin = Pin("attention", (*HEAD.params[:2], ("checkpoint", "en-de"), ("text", hostile)), "<script>alert(1)</script>")
    text = file_of(pin, Pin("attention", (("checkpoint", "en-de"), ("text", hostile))))
    assert text.count("</script") == text.count("<script") == 1
    assert "<!--" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "default-src 'none'" in unescape(text)
    assert "http" not in text.replace("http-equiv", "")


def test_a_step_and_a_layer_that_a_shorter_translation_lacks_become_its_last(chosen: Selection) -> None:
    view = chosen.changed(text="She read.")
    trace = traces.trace(models.text_reader(chosen.model), "She read.")
    for asked, step, layer in ((view.changed(step=999, layer=99), -1, 1), (view.changed(step=1, layer=0), 1, 0)):
        found = seen(FILM, asked)
        assert found.title == f"Film, step {step % len(trace.steps) + 1} of {len(trace.steps)}"
        assert f"<strong><bdi>{literal(trace.steps[step].token.removeprefix('▁'))}" in str(found.pictures[0].drawing)
        rows = np.concatenate([part.ravel() for part in numbers_of(found.pictures[1].drawing)])
        expected = trace.weights("decoder.cross", layer)[:, step].numpy().ravel()
        np.testing.assert_allclose(rows[: expected.size], expected, atol=1e-6)
