"""The collection of pinned views."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.coreference.case_files import curated_cases
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import sent_to
from viz.access import models, traces
from viz.pages.learn.collection import data
from viz.pages.learn.collection.drawing import Card, Heads, Matrix, Seen, Step, page_file
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.selection import url
from viz.selection.choices import ModelChoice
from viz.selection.selection import PAGES, Selection
from viz.selection.url import Pin, decode, encode
from viz.server.background_jobs import Progress
from viz.text.html import literal

TEXT = (("checkpoint", "en-de"), ("text", "She read."))
HEAD = Pin("attention", (("head", "1"), ("layer", "1"), ("site", "encoder.self"), *TEXT), "Look <b>here</b>")
GRID, FILM, COMPARED = (Pin(page, TEXT) for page in ("attention", "decoding", "coreference"))

pytestmark = pytest.mark.usefixtures("chosen")


def collection(*kept: Pin) -> AppTest:
    return opened(app_of(learn="Collection", pins=encode(kept)), "learn")


def kept_in(app: AppTest) -> tuple[Pin, ...]:
    return decode(app.session_state["selection"].learn.pins)


def drawn(app: AppTest) -> str:
    return "".join(part.proto.body for part in app.get("html"))


def test_every_kind_of_view_stands_in_the_collection() -> None:
    others = [Pin(page, TEXT) for page in PAGES if page not in ("attention", "decoding", "coreference")]
    app = collection(HEAD, GRID, FILM, COMPARED, *others)
    shown = drawn(app)
    assert (len(sent_to(app, "matrix_picture")), len(sent_to(app, "head_grid"))) == (4, 1)
    assert shown.count("Candidate") == 1
    assert shown.count("no small picture of it") == len(others)
    assert [field.value for field in app.text_input][:1] == [HEAD.caption]


def test_a_pair_of_the_set_is_drawn_with_its_own_sentences() -> None:
    first = curated_cases().cases[0]
    pair = [case for case in curated_cases().cases if case.pair == first.pair]
    app = collection(Pin("coreference", (*TEXT, ("pair", first.pair))))
    assert len(pair) == 2
    for case in pair:
        assert literal(case.sentence) in drawn(app)
    assert "She read." not in drawn(app)


def test_a_branch_is_not_drawn_as_the_translation_that_the_model_made() -> None:
    app = collection(Pin("decoding", (*TEXT, ("branches", "0-2-t5"), ("branch", "1"))))
    assert "Candidate" not in drawn(app)
    assert "no small picture of it" in drawn(app)


def test_the_film_of_a_decoder_is_drawn_with_what_it_wrote(any_model: AppTest) -> None:
    film = Pin("decoding", (("checkpoint", "gpt2"), ("text", "She read.")))
    any_model.query_params["learn"], any_model.query_params["pins"] = "Collection", encode([film])
    written = traces.written(models.writer(ModelChoice("gpt2")), "She read.")
    assert f"Film, step 1 of {len(written.steps)}" in drawn(opened(any_model, "learn"))


@pytest.mark.parametrize("pin", [GRID, COMPARED], ids=["grid", "compared"])
def test_a_picture_tells_of_every_token_that_the_model_writes_for_it(pin: Pin, chosen: Selection) -> None:
    told: list[int] = []
    progress = Progress(0, "tokens", lambda: told.append(progress.done))
    # Sentences that no other test has had translated.
    own = chosen.changed(text=f"She reads of {pin.page}.", other_text=f"He reads of {pin.page}.")
    data.seen(pin, own, progress)
    assert told[:3] == [1, 2, 3]


def test_an_empty_collection_says_how_to_fill_it() -> None:
    app = opened(app_of(learn="Collection", pins="nonsense"), "learn")
    assert "Nothing is pinned yet" in app.info[0].value


def test_captions_order_and_views_can_be_changed() -> None:
    app = collection(HEAD, FILM)
    app.text_input[0].set_value("Another").run()
    assert kept_in(healthy(app))[0].caption == "Another"
    app.button("pin-Move down-0").click().run()
    assert [pin.page for pin in kept_in(healthy(app))] == ["decoding", "attention"]
    assert kept_in(app)[1].caption == "Another"
    ends = [app.button(f"pin-Move {way}-{number}").disabled for number in (0, 1) for way in ("up", "down")]
    assert ends == [True, False, False, True]
    app.button("pin-remove-0").click().run()
    assert [pin.page for pin in kept_in(healthy(app))] == ["attention"]


def test_a_view_whose_model_or_text_will_not_do_leaves_the_others_alive() -> None:
    gone = Pin("attention", (("checkpoint", "gone"), ("text", "Yes.")))
    blank = Pin("decoding", (("checkpoint", "en-de"), ("text", " ")))
    app = app_of(learn="Collection", pins=encode([gone, blank, HEAD]))
    app.run()
    app.switch_page("viz/pages/learn/page.py").run()
    assert not app.exception
    assert len(app.error) == 2
    assert len(sent_to(app, "matrix_picture")) == 1


def test_the_file_has_titles_pictures_and_captions_as_text_and_asks_for_nothing() -> None:
    hostile = "</script><!--"
    data = MatrixData(
        values=np.ones((1, 1), np.float32), row_tokens=[hostile], column_tokens=[hostile], title=hostile, label=hostile,
        scale=ColourScale.root("weight", 1.0),
    )  # fmt: skip
    weights = np.ones((1, 2, 1, 1), np.float32)
    pictures = (Matrix(hostile, data), Heads(hostile, weights, [hostile], [hostile], (0, 1)))
    card = Card("L1 <i>", Seen(hostile, hostile, pictures), "<script>alert(1)</script>", "/?layer=1")
    text = page_file([card]).decode()
    assert [text.count(f'<div id="picture-{number}">') for number in range(3)] == [1, 1, 0]
    assert text.count("</script") == text.count("<script") == 1
    assert "<!--" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "L1 &lt;i&gt;" in text
    assert "default-src &#x27;none&#x27;" in text
    assert "http" not in text.replace("http-equiv", "")


def test_a_step_and_a_layer_that_a_shorter_translation_lacks_become_its_last(chosen: Selection) -> None:
    film = chosen.changed(text="She read.", step=999, layer=99)
    (step, rows), trace = data.seen(FILM, film).pictures, traces.trace(models.text_reader(chosen.model), "She read.")
    assert isinstance(step, Step)
    assert isinstance(rows, Matrix)
    assert rows.data is not None
    assert step.written == tuple(each.token for each in trace.steps)
    np.testing.assert_allclose(rows.data.values, trace.weights("decoder.cross", 1)[:, -1].numpy(), atol=1e-6)
    (step, rows) = data.seen(FILM, chosen.changed(text="She read.", step=1, layer=0)).pictures
    assert isinstance(step, Step)
    assert isinstance(rows, Matrix)
    assert rows.data is not None
    assert step.written == tuple(each.token for each in trace.steps[:2])
    np.testing.assert_allclose(rows.data.values, trace.weights("decoder.cross", 0)[:, 1].numpy(), atol=1e-6)
    assert len(rows.data.row_tokens) == len(rows.data.values)
    assert len(rows.data.column_tokens) == rows.data.values.shape[1]


def test_the_selection_of_a_view_is_what_was_pinned() -> None:
    selection = Selection().changed(checkpoint="en-de", text="She read.", layer=1)
    assert url.pin_of(selection, "attention", {}).selection.common == selection.common
