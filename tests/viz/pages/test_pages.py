"""Every page is launched, keeps what was chosen, and shows bad input as a sentence while it stays alive."""

import re
import shutil
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.sent import sent_to
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES
from viz.selection.selection import FIELDS

PAGES = {"attention": "Attention", "decoding": "Decode", "coreference": "Compare", "experiments": "Experiments"}
MODEL = "model_card"  # speaks of the checkpoint, not of the sentence
RTL = "החתול ישן על המיטה"
CONTROLS = "a\x00b\x07c\u202ed\u200be"
HTML = "<script>alert(1)</script> <img src=https://evil.example/a.png> ![x](https://evil.example/b.png)"
READABLE = {"emoji": "I 😀 you 👩‍👧", "right to left": RTL, "control characters": CONTROLS}
REFUSED = {"blank": " \n\t ", "10,000 characters": "word " * 2_000, "one endless word": "x" * 10_000}


def opened(app: AppTest, page: str = "attention") -> AppTest:
    return run_page(app, page)


def walked(app: AppTest, pages: Iterable[str]) -> Iterator[str]:
    """Open one page after the other in the same session, none of which may raise; each is yielded while it is open."""
    for page in pages:
        app.switch_page(f"viz/pages/{page}/page.py").run()
        assert not app.exception, (page, app.exception[0].value)
        yield page


def texts(app: AppTest) -> str:
    """What is read on the page: a marked word is a word, with the sign of a guess or without it."""
    return re.sub("</?mark[^>]*>|<sup[^>]*>[^<]*</sup>", "", " ".join(element.value for element in app.html))


def test_every_page_shows_title_sentence_translation_and_the_shared_sidebar(app: AppTest) -> None:
    for page in walked(app.run(), [*PAGES, MODEL]):
        healthy(app)
        assert app.sidebar.text_area[0].value == EXAMPLES[0].text, page
        assert app.sidebar.selectbox[0].options == ["en-de"], page
        if page == MODEL:
            continue
        assert [element.value for element in app.title] == [PAGES[page]]
        # The attention page has the words of both as a component, to be clicked.
        lines = [line for header, _ in sent_to(app, "word_picker") for line in header["lines"]]
        shown = " ".join([texts(app), *(" ".join([line["mark"], *line["words"]]) for line in lines)])
        assert "The animal didn't cross the street" in unescape(shown), page
        assert "DE" in shown, page
        assert len(app.caption) >= 1, page


# ---- state ----


def test_the_sentence_survives_every_change_of_page(app: AppTest) -> None:
    opened(app)
    app.text_area(key="text").set_value("Tom was late.").run()
    for page in walked(app, list(PAGES)[1:]):
        assert healthy(app).text_area(key="text").value == "Tom was late.", page
        # It is a text, or words that can be pointed at.
        shown = texts(app) + "".join(
            " ".join(line["words"]) for header, _ in sent_to(app, "word_picker") for line in header["lines"]
        )
        assert "Tom was late." in shown, page


#: Something chosen on every page.
CHOSEN = {
    "text": "It is late.", "site": "decoder.self", "head": "L2H3", "figure": "entropy", "threshold": "5",
    "search": "Sampling", "draw": "7", "spare": "True", "corpus_figure": "first", "step_of_lesson": "2", "seed": "4",
    "without": "1",
}  # fmt: skip


def test_the_address_of_each_page_has_its_own_choices_alone_and_opens_the_same_view_in_another_session(
    app: AppTest,
) -> None:
    for name, value in CHOSEN.items():
        app.query_params[name] = value
    for page in walked(healthy(app.run()), [*PAGES, MODEL]):
        params = dict(app.query_params)
        sections = {field.section for field in FIELDS.values() if field.param in params.keys() - {"head"}}
        assert sections <= {"model", "common", page}
        other = healthy(run_page(app_of(**params), page))
        assert dict(other.query_params) == params
        for kind in ("html", "caption", "markdown"):
            shown, again = ([str(each.proto) for each in of.get(kind)] for of in (app, other))
            assert shown == again, (page, kind)
    # The session keeps what was chosen elsewhere.
    assert healthy(app.switch_page("viz/pages/attention/page.py").run()).query_params["threshold"] == "5"


def test_wrong_parameters_in_a_link_become_defaults(app: AppTest) -> None:
    wrong = {
        "checkpoint": "../../etc", "site": "x", "layer": "99", "head": "99", "token": "500", "step": "-1",
        "view": "?",
    }  # fmt: skip
    for name, value in wrong.items():
        app.query_params[name] = value
    healthy(app.run())
    # No position is too large before there is a sentence to count; a layer that is lacking becomes the first.
    head = {"site": "encoder.self", "head": "L1H1"}
    for page in walked(app, PAGES):
        healthy(app)
        assert set(app.query_params) <= {"token", *head}, page
    healthy(app.switch_page("viz/pages/coreference/page.py").run())
    assert dict(app.query_params) == head


# ---- bad input ----


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE.keys())
def test_unusual_text_is_read_like_any_other_on_every_page(app: AppTest, text: str) -> None:
    opened(app)
    healthy(app.text_area(key="text").set_value(text).run())
    for page in walked(app, PAGES):
        assert healthy(app).text_area(key="text").value == text, page


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_refused_text_is_answered_with_a_sentence_and_not_lost_on_any_page(app: AppTest, text: str) -> None:
    opened(app)
    app.text_area(key="text").set_value(text).run()
    for page in walked(app, PAGES):
        assert len(app.error) == 1, page
        assert app.text_area(key="text").value == text, page
        assert [element.value for element in app.title] == [PAGES[page]]
    healthy(app.text_area(key="text").set_value("Tom was late.").run())
    for _ in walked(app, PAGES):
        healthy(app)


def test_html_and_markdown_in_the_text_reach_every_page_escaped(app: AppTest) -> None:
    opened(app)
    app.text_area(key="text").set_value(HTML[:60]).run()
    for page in walked(app, [*PAGES, MODEL]):
        for element in (*app.html, *app.markdown, *app.caption):
            assert "<script" not in element.value, page
            assert "<img" not in element.value, page
            assert "![x](" not in element.value, page


def test_without_a_checkpoint_every_page_says_how_to_get_one(
    app: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    for page in walked(app.run(), [*PAGES, MODEL]):
        assert "python -m model train" in app.error[0].value, page
        assert app.text_area(key="text").value == EXAMPLES[0].text, page


def test_a_damaged_checkpoint_is_named_and_another_can_be_chosen(
    app: AppTest, tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "en-de")
    shutil.copytree(tiny_checkpoints / "en-de", tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"not what it was")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    opened(app)
    assert not app.exception
    assert "broken" in app.error[0].value
    healthy(app.selectbox(key="checkpoint").set_value("en-de").run())


def test_a_device_that_is_not_there_is_not_offered_and_is_named_where_a_link_asks_for_it(app: AppTest) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has the device")
    assert "device" not in {control.key for control in opened(app).segmented_control}
    app = app_of(device="cuda")
    opened(app)
    assert not app.exception
    assert "cuda" in app.error[0].value
    healthy(app.segmented_control(key="device").set_value("auto").run())
