"""bertviz, which draws the open head: what its page holds and may do, and when there is none."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.proto.IFrame_pb2 import IFrame
from streamlit.testing.v1 import AppTest

from model.trace.trace import Trace
from model.translator import Translator
from tests.viz.page_run import app_of, healthy
from tests.viz.sent import unlinked
from viz.pages.attention.opened_head.bertviz_page import bertviz_page
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import BERTVIZ_VIEWS
from viz.text.written import SITES, display_tokens

# bertviz opens its scripts and leaves their closing to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*_view.js:ResourceWarning")
HOSTILE = '</ScRiPt><script>alert(1)</script><!-- "\\ const params = {}; // HACK'
VIEWS = [(site, view) for site in SITES for view in BERTVIZ_VIEWS]


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    own = translator.trace("It is late.")
    tokens = own.source_tokens[0], HOSTILE, "\u2028\u202e", *own.source_tokens[3:]
    return replace(own, source=replace(own.source, tokens=tokens))


def drawn(trace: Trace, site: str = "encoder.self", view: str = "Head view", **how: Any) -> str:
    return bertviz_page(trace, site, view, **{"layer": 0, "dark": False, "saved_as": "SVG", **how})


def scripts_of(page: str) -> list[str]:
    return re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL | re.IGNORECASE)


def params_of(page: str) -> dict[str, Any]:
    (own,) = (script for script in scripts_of(page) if "const params = " in script)
    params: dict[str, Any] = json.JSONDecoder().raw_decode(own, own.index("const params = ") + 15)[0]
    return params


@pytest.mark.parametrize(("site", "view"), VIEWS)
def test_only_its_four_scripts_may_run_and_no_token_ends_one(trace: Trace, site: str, view: str) -> None:
    page = drawn(trace, site, view)
    scripts = scripts_of(page)
    assert len(scripts) == page.lower().count("</script>") == 4
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    # bertviz's own configuration of require.js names a CDN: nothing may be asked there.
    expected = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    assert unescape(policy) == expected
    assert "alert(1)</" not in page
    # The data stands in the page once.
    assert page.count("left_text") - page.count(".left_text") == 1


@pytest.mark.parametrize(("site", "view"), VIEWS)
def test_every_layer_and_head_is_there_to_three_decimals_counted_from_one(trace: Trace, site: str, view: str) -> None:
    params = params_of(drawn(trace, site, view))
    (attention,) = params["attention"]
    layers, heads = trace.shapes[site]
    exact = np.stack([trace.weights(site, layer).numpy() for layer in range(layers)])
    assert np.abs(np.array(attention["attn"]) - exact).max() <= 0.000501
    assert not re.search(r"0\.\d{4}", json.dumps(attention["attn"]))
    assert params["include_layers"] == [*range(1, layers + 1)]
    if view == "Model view":
        assert params["include_heads"] == [*range(1, heads + 1)]
    # Queries stand on the left and keys on the right, as everywhere.
    assert attention["left_text"] == display_tokens(trace.row_names(site))
    assert attention["right_text"] == display_tokens(trace.axis_names(site)[1])
    if site == "encoder.self":
        assert attention["left_text"][1:3] == [HOSTILE.replace(" ", "␣"), "\\u2028\\u202e"]


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(drawn="bertviz", text="It is late.")


def frame_of(app: AppTest) -> IFrame:
    (iframe,) = healthy(app).get("iframe")
    frame: IFrame = iframe.proto
    return frame


@pytest.mark.parametrize("view", BERTVIZ_VIEWS)
def test_it_is_a_way_to_draw_the_open_head_and_says_how_to_read_it(app: AppTest, view: str) -> None:
    app.query_params.update({"bertviz": view, "site": SITES[2], "layer": "1", "head": "1", "also": "0"})
    page = frame_of(app.run()).srcdoc
    assert view == "Model view" or (params_of(page)["layer"], params_of(page)["heads"]) == (2, [0, 1])
    assert f"<title>{view} of attention" in page
    said = " ".join(unlinked(caption.value) for caption in app.caption)
    assert "up to 64 tokens, because" in said
    assert len(page) < 2_000_000
    other = BERTVIZ_VIEWS[1 - BERTVIZ_VIEWS.index(view)]
    app.segmented_control(key="bertviz_view").set_value(other).run()
    assert f"<title>{other} of attention" in frame_of(app).srcdoc
    app.segmented_control(key="drawn_as").set_value("Heatmap").run()
    assert not healthy(app).get("iframe")


def test_above_64_tokens_a_sentence_says_so_and_what_to_do(any_model: AppTest) -> None:
    any_model.query_params.update({"drawn": "bertviz", "checkpoint": "gpt2", "text": "late " * 40})
    app = any_model.run()
    assert not app.exception
    assert not app.get("iframe")
    assert "available up to 64 tokens" in app.error[0].value.replace("\\", "")
    assert "Choose something shorter" in app.error[0].value
    assert app.segmented_control(key="drawn_as").value == "bertviz"
