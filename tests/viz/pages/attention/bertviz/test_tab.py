"""The tab "bertviz" as a page without a browser."""

import importlib.util
from pathlib import Path
from urllib.parse import urlparse, urlsplit

import pytest
from streamlit.proto.IFrame_pb2 import IFrame
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of
from viz.pages.attention.bertviz import tab as bertviz_view
from viz.selection.attention import BERTVIZ_VIEWS
from viz.selection.catalogue import ROOT_VARIABLE
from viz.text.sites import SITES

pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*_view.js:ResourceWarning")


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(view="bertviz", text="It is late.")  # the tiny model makes longer sentences far longer


def drawn(app: AppTest) -> IFrame:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    (iframe,) = app.get("iframe")
    return iframe.proto


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_the_link_says_which_view_of_which_attention_and_the_page_says_how_to_read_it(app: AppTest, view: str) -> None:
    app.query_params["bertviz"] = view
    app.query_params["site"] = SITES[2]
    iframe = drawn(app.run())
    assert f"<title>{view} of attention" in iframe.srcdoc
    assert "up to 64 tokens, because" in " ".join(caption.value for caption in app.caption)
    other = BERTVIZ_VIEWS[1 - BERTVIZ_VIEWS.index(view)]
    assert (
        f"<title>{other} of attention" in drawn(app.segmented_control(key="bertviz_view").set_value(other).run()).srcdoc
    )


def test_a_page_that_was_drawn_is_not_kept_as_an_address(app: AppTest) -> None:
    page = drawn(app.run()).srcdoc
    before = urlsplit.cache_info().hits  # type: ignore[attr-defined]
    urlparse(page)
    assert urlsplit.cache_info().hits == before  # type: ignore[attr-defined]


def test_another_attention_is_another_drawing(app: AppTest) -> None:
    before = drawn(app.run()).srcdoc
    assert drawn(app.segmented_control(key="site").set_value(SITES[1]).run()).srcdoc != before
    assert app.query_params["site"] == SITES[1]


def test_the_head_view_begins_with_the_open_layer(app: AppTest) -> None:
    app.query_params["layer"] = "1"
    assert '"layer":2' in drawn(app.run()).srcdoc


def test_too_many_tokens_are_refused_with_a_sentence_and_the_tab_stays_alive(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bertviz_view, "MAX_TOKENS", 5)
    app.run()
    assert not app.exception
    assert "available up to 5 tokens" in app.error[0].value.replace("\\", "")
    assert app.segmented_control(key="bertviz_view").value == BERTVIZ_VIEWS[0]


@pytest.mark.parametrize(("module", "package"), [("bertviz", "bertviz"), ("IPython", "ipython"), ("mpld3", "mpld3")])
def test_a_missing_package_is_named_in_a_sentence(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, module: str, package: str
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == module else found(name, *rest))
    app.run()
    assert not app.exception, app.exception[0].value
    assert not app.get("iframe")
    assert f"This tab needs {package}: run `pip install" in " ".join(one.value for one in app.info)
