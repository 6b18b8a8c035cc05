"""bertviz on its page: what the page holds and may do, and when there is none."""

import base64
import hashlib
import importlib.util
import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlparse, urlsplit

import numpy as np
import pytest
from streamlit.proto.IFrame_pb2 import IFrame
from streamlit.testing.v1 import AppTest

from model.errors import InputTextError
from model.trace.trace import Trace
from tests.browser.demo_bertviz import SHAPES, InventedTrace, Layer, as_trace
from tests.paths import ROOT
from tests.viz.page_run import app_of
from viz.pages.attention.bertviz import tab as bertviz_view
from viz.pages.attention.bertviz.tab import MAX_TOKENS, bertviz_height, bertviz_page
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import BERTVIZ_VIEWS
from viz.text.written import SITES

# bertviz opens its scripts and leaves their closing to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*_view.js:ResourceWarning")
HOSTILE = '</ScRiPt><script>alert(1)</script><!-- "\\ const params = {}; // HACK'
CONFIG = ROOT / ".streamlit/config.toml"
VIEWS = [(site, view) for site in SITES for view in BERTVIZ_VIEWS]
TRACE = as_trace(InventedTrace(("▁The", HOSTILE, "\u2028\u202e", "</s>"), ("<s>", "▁Das", "▁Tier")))


def drawn(
    site: str = "encoder.self", view: str = "Head view", trace: Trace = TRACE, layer: int = 0, dark: bool = False
) -> str:
    return bertviz_page(trace, site, view, layer=layer, dark=dark)


@pytest.fixture(scope="module", params=VIEWS, ids=" ".join)
def page(request: pytest.FixtureRequest) -> str:
    return drawn(*request.param)


def scripts_of(page: str) -> list[str]:
    return re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL | re.IGNORECASE)


def params_of(page: str) -> dict[str, Any]:
    (own,) = (script for script in scripts_of(page) if "const params = " in script)
    return json.JSONDecoder().raw_decode(own, own.index("const params = ") + len("const params = "))[0]


def test_the_page_asks_for_nothing_outside_runs_four_scripts_and_holds_tokens_captive(page: str) -> None:
    without_libraries = page
    for library in bertviz_view._libraries():
        without_libraries = without_libraries.replace(library, "")
    assert "src=" not in without_libraries
    assert "<link" not in without_libraries
    # bertviz's own configuration of require.js names the CDN; the shim never reads it, and the policy forbids it.
    assert set(re.findall(r"https?://[^'\"\s]+", without_libraries)) <= {
        "https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min",
        "https://cdnjs.cloudflare.com/ajax/libs/jquery/2.0.0/jquery.min",
        # The name of a kind of element, which nobody fetches.
        "http://www.w3.org/2000/svg",
        "https://github.com/tensorflow/tensor2tensor/blob/master/tensor2tensor/visualization/attention.js",
    }
    # Only the four scripts written here may run.
    scripts = scripts_of(page)
    assert len(scripts) == 4
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    policy = policy.replace("&#x27;", "'")
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert policy == f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    # A token cannot close the script.
    assert "alert(1)</" not in page
    assert page.lower().count("</script>") == 4
    # The data stands in the page once.
    assert page.count("left_text") - page.count(".left_text") == 1
    assert "PYTHON_PARAMS" not in page


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_queries_stand_on_the_left_and_keys_on_the_right_shown_as_everywhere_else(view: str) -> None:
    source = ["▁The", HOSTILE.replace(" ", "␣"), "\\u2028\\u202e", "</s>"]
    target, rows = ["<s>", "▁Das", "▁Tier"], ["<s> → ▁Das", "▁Das → ▁Tier", "▁Tier → </s>"]
    for site, left, right in zip(SITES, (source, rows, rows), (source, target, source), strict=True):
        (attention,) = params_of(drawn(site, view))["attention"]
        assert (attention["left_text"], attention["right_text"]) == (left, right)


@pytest.mark.parametrize(("site", "view"), VIEWS)
def test_every_layer_and_head_of_an_attention_is_there_to_three_decimals(site: str, view: str) -> None:
    (attention,) = params_of(drawn(site, view))["attention"]
    layers, heads = SHAPES[site]
    exact = np.stack([TRACE.weights(site, layer).numpy() for layer in range(layers)])
    assert exact.shape[:2] == (layers, heads)
    assert np.array(attention["attn"]).shape == exact.shape
    assert np.abs(np.array(attention["attn"]) - exact).max() <= 0.000501
    assert not re.search(r"0\.\d{4}", json.dumps(attention))


@pytest.mark.parametrize("site", SITES)
def test_layers_and_heads_count_from_one(site: str) -> None:
    layers, heads = SHAPES[site]
    assert params_of(drawn(site))["include_layers"] == [*range(1, layers + 1)]
    model_view = params_of(drawn(site, "Model view"))
    assert model_view["include_layers"] == [*range(1, layers + 1)]
    assert model_view["include_heads"] == [*range(1, heads + 1)]
    assert model_view["total_heads"] == heads


def long_trace(tokens: int, layers: int = 4, heads: int = 8) -> Trace:
    inputs: dict[str, tuple[Layer, ...]] = {site: (Layer(heads),) * layers for site in SITES}
    return as_trace(InventedTrace(("▁word",) * tokens, ("▁Wort",), inputs))


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_a_page_of_64_tokens_stays_under_two_megabytes(view: str) -> None:
    assert len(drawn(view=view, trace=long_trace(MAX_TOKENS), dark=True)) < 2_000_000


def test_a_longer_sentence_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputTextError, match="up to 64 tokens; this text has 65"):
        drawn(trace=long_trace(MAX_TOKENS + 1))
    assert drawn("decoder.self", trace=long_trace(MAX_TOKENS + 1))
    # The height follows the longer side, and in the model view the layers.
    assert bertviz_height(long_trace(40), "decoder.cross", "Head view") == 900 + 92
    assert bertviz_height(long_trace(40), "encoder.self", "Model view") == 4 * (40 * 10.5 + 10) + 70
    assert bertviz_height(long_trace(40, layers=1), "encoder.self", "Model view") == 40 * 18 + 55 + 70
    # The head view begins with the layer that is open.
    assert params_of(drawn("decoder.self", layer=3))["layer"] == 4


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
@pytest.mark.parametrize(("dark", "theme"), [(False, "light"), (True, "dark")])
def test_the_colours_are_those_of_the_theme(dark: bool, theme: str, view: str) -> None:
    colours = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][theme]
    style = re.findall(r"<style>(.*?)</style>", drawn(view=view, dark=dark), re.DOTALL)[0]
    assert f"color: {colours['textColor']}; background: {colours['backgroundColor']}" in style
    assert f"text {{ fill: {colours['textColor']}" in style
    assert f"color-scheme: {theme}" in style
    assert [f".background {{ fill: {hover}; }}" in style for hover in ("#39425a", "#e2dfd4")] == [dark, not dark]


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(view="bertviz", text="It is late.")  # the tiny model makes longer sentences far longer


def frame_of(app: AppTest) -> IFrame:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    (iframe,) = app.get("iframe")
    return iframe.proto


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_the_link_says_which_view_of_which_attention_and_the_page_says_how_to_read_it(app: AppTest, view: str) -> None:
    app.query_params.update({"bertviz": view, "site": SITES[2], "layer": "1"})
    iframe = frame_of(app.run())
    assert view == "Model view" or '"layer":2' in iframe.srcdoc, "it begins with the open layer"
    assert f"<title>{view} of attention" in iframe.srcdoc
    assert "color-scheme: light" in iframe.srcdoc
    assert "up to 64 tokens, because" in " ".join(caption.value for caption in app.caption)
    other = BERTVIZ_VIEWS[1 - BERTVIZ_VIEWS.index(view)]
    assert (
        f"<title>{other} of attention"
        in frame_of(app.segmented_control(key="bertviz_view").set_value(other).run()).srcdoc
    )


def test_a_page_that_was_drawn_is_not_kept_as_an_address(app: AppTest) -> None:
    page = frame_of(app.run()).srcdoc
    before = urlsplit.cache_info().hits  # type: ignore[attr-defined]
    urlparse(page)
    assert urlsplit.cache_info().hits == before  # type: ignore[attr-defined]
    # Another attention is another drawing.
    before = frame_of(app.run()).srcdoc
    assert frame_of(app.segmented_control(key="site").set_value(SITES[1]).run()).srcdoc != before
    assert app.query_params["site"] == SITES[1]


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
