"""What the Export menu offers, what a link may name, and the page that is taken along."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Reader, Translator
from model.trace.trace import Trace
from tests.viz import page_run
from tests.viz.page_run import traced
from tests.viz.sent import unlinked, unpack
from viz.access import attention
from viz.pages.attention.export import OpenView, view_page
from viz.selection.selection import Selection
from viz.ui import trace_tables


def opened(app: AppTest, **params: str) -> AppTest:
    """The page with its Export menu open."""
    app.session_state["export"] = True
    return page_run.opened(app, **params)


def labels(app: AppTest) -> list[str]:
    return [button.proto.label for button in app.get("download_button")]


def captions(app: AppTest) -> str:
    return " ".join(unlinked(caption.value) for caption in app.caption)


def test_everything_is_offered(app: AppTest) -> None:
    opened(app, site="decoder.cross", layer="1", head="2")
    weights = ["L2 H3", "Current view", "How one row is computed", "Metrics of heads", "All heads"]
    expected = [*weights, "Tokens", "Decoding", "Positions, source", "Positions, target", "HTML page", "NumPy arrays"]
    assert labels(app) == expected
    # Without whole words the view is the first table.
    app.toggle(key="whole_words").set_value(False).run()
    assert labels(app) == [label for label in expected if label != "Current view"]


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], bytes]]:
    """What makes the file of each button, by its label."""
    found: dict[str, Callable[[], bytes]] = {}
    shown = st.download_button

    def button(label: str, data: Callable[[], bytes], *rest: Any, **more: Any) -> bool:
        found[label] = data
        return shown(label, data, *rest, **more)

    monkeypatch.setattr(st, "download_button", button)
    return found


def in_a_thread(make: Callable[[], bytes]) -> bytes:
    """A file as the server makes it once its button is pressed: without a session."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(make).result()


def test_every_file_is_made_in_a_thread_without_a_session(app: AppTest, makers: dict[str, Callable[[], bytes]]) -> None:
    opened(app, site="decoder.cross")
    assert len(makers) > 9
    assert all(map(in_a_thread, makers.values()))


def held(make: object) -> Iterator[object]:
    """What a function keeps in memory: what it is given before it is called, and its closure."""
    if isinstance(make, partial):
        for each in (make.func, *make.args, *make.keywords.values()):
            yield from held(each)
    else:
        for cell in getattr(make, "__closure__", None) or ():
            yield from held(cell.cell_contents)
        yield make


def test_a_button_keeps_no_model_in_memory(app: AppTest, makers: dict[str, Callable[[], bytes]]) -> None:
    opened(app, site="decoder.cross")
    found = [each for make in makers.values() for each in held(make)]
    assert any(isinstance(each, Trace) for each in found)
    assert not any(isinstance(each, Reader) for each in found)


def test_a_sound_is_taken_along_with_its_frames_together_and_the_open_head_over_its_time(
    any_model: AppTest, makers: dict[str, Callable[[], bytes]]
) -> None:
    opened(any_model, checkpoint="whisper", site="decoder.cross")
    page = in_a_thread(makers["HTML page"]).decode("utf-8")
    assert "of the sound; the weights within it are summed" in page
    assert 'id="picture-1"' in page
    assert re.findall(r"<tbody><tr><th[^>]*>(.*?)<", page) == ["1"], "steps are counted from 1"


def test_a_model_that_gives_weights_only_is_offered_nothing_of_queries_and_keys(any_model: AppTest) -> None:
    opened(any_model, checkpoint="mpnet", measure="norms")
    assert "Metrics of heads" in labels(any_model)
    assert not {"How one row is computed", "Current view"} & set(labels(any_model))


def test_an_attention_too_long_for_a_page_of_its_own_says_how_many_tokens_it_has(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "SHORT", 16)
    opened(app, site="decoder.cross")
    queries, keys = map(
        len, traced(Selection().common.text, Selection().changed(checkpoint="en-de")).axis_tokens("decoder.cross")
    )
    assert queries != keys
    assert f"up to 16 tokens; this attention has {max(queries, keys)}." in captions(app)
    assert "HTML page" not in labels(app)


def test_a_table_too_long_for_a_spreadsheet_is_not_offered_and_the_tab_says_why(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_tables, "MAX_ROWS", 100)
    assert "All heads" not in labels(opened(app))
    assert "more than a spreadsheet holds" in captions(app)
    trace = traced(Selection().common.text, Selection().changed(checkpoint="en-de"))
    monkeypatch.setattr(trace_tables, "MAX_ROWS", trace_tables.num_weights(trace, "encoder.self"))
    assert "more than a spreadsheet holds" not in captions(app.run())


def test_the_camera_of_a_chart_saves_in_the_chosen_format_under_a_name(app: AppTest) -> None:
    app.query_params["pictures"] = "SVG"
    app.session_state["export"] = True
    page_run.run_page(app, "model_card")
    chart = app.get("plotly_chart")[0]
    assert '"format": "svg"' in chart.proto.config
    assert '"filename": "headlight-parameters' in chart.proto.config
    app.segmented_control(key="picture_format").set_value("PNG").run()
    assert '"format": "png"' in app.get("plotly_chart")[0].proto.config
    assert "pictures" not in app.query_params


HOSTILE = "</script><script>alert(1)</script><img src=https://evil.example/x onerror=alert(2)><!-- \u2028 </style>"
VIEW = OpenView("decoder.cross", "Decoder cross-attention", 1, 2, "checkpoint=en-de&text=%3Cb%3E", ())


def made(trace: Trace, view: OpenView = VIEW, **words: str) -> str:
    view = replace(view, lines=[("EN", "en", trace.text), ("DE", "de", trace.translation)])
    return view_page(trace, view, checkpoint=words.get("checkpoint", "tiny"), digest="0123abc").decode()


def payloads(page: str) -> list[tuple[dict[str, Any], list[np.ndarray]]]:
    """What the components of a page are given, in order."""
    (listed,) = re.findall(r'"payloads":(\["[A-Za-z0-9+/=",]*"\])', page)
    return [unpack(base64.b64decode(each)) for each in json.loads(listed)]


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace("The dog was tired.", "Der Hund war müde.")


@pytest.fixture(scope="module")
def page(trace: Trace) -> str:
    return made(trace)


def test_the_page_holds_sentence_head_grid_decoding_and_origin(page: str, trace: Trace) -> None:
    for expected in (
        "The dog was tired.",
        "Der Hund war müde.",
        "<h2>Decoder cross-attention</h2>",
        "<code>tiny</code>",
        "<code>0123abc</code>",
        "<code>?checkpoint=en-de&amp;text=%3Cb%3E</code>",
    ):
        assert expected in page
    assert len(page) < 1_000_000
    keeper, grid, matrix, *heads = payloads(page)
    assert keeper[0]["address"] == grid[0]["address"]
    assert grid[0]["selected"] == [1, 2]
    assert matrix[0]["title"] == "Decoder cross-attention, L2 H3"
    assert len(heads) == 2 * 4
    for number, (_, (values,)) in enumerate(heads):
        expected_weights = trace.weights("decoder.cross", number // 4)[number % 4].numpy()
        np.testing.assert_array_equal(values, expected_weights.ravel())
    assert page.count("<tr>") == 1 + len(trace.steps)
    numbers = [int(number) for number in re.findall(r"<tr><t[dh][^>]*>(\d+)</", page)]
    assert numbers == list(range(1, len(trace.steps) + 1))
    # The same view is the same file.
    assert made(trace) == page
    # Only its script may run, and nothing may be fetched.
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert policy.count("sha256-") == page.count("<script") == page.count("</script>") == 1
    assert "http" not in policy.replace("http-equiv", "")


def test_no_text_of_people_leaves_its_place(trace: Trace, page: str) -> None:
    hostile = replace(
        trace,
        source=replace(trace.source, text=HOSTILE, tokens=(HOSTILE,) * len(trace.source_tokens)),
        translation=HOSTILE,
        target_tokens=(HOSTILE,) * len(trace.target_tokens),
        steps=tuple(
            replace(s, token=HOSTILE, candidates=tuple(replace(c, token=HOSTILE) for c in s.candidates))
            for s in trace.steps
        ),
    )
    found = made(hostile, replace(VIEW, query_string=HOSTILE), checkpoint=HOSTILE)
    for sign in ("<script", "</script", "<img", "</style", "<!--"):
        assert found.count(sign) == page.count(sign), sign
    assert "\u2028" not in found[found.rindex("<script") :]
