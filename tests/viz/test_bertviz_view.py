import base64
import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from model.errors import InputTextError
from viz import bertviz_view
from viz.bertviz_view import MAX_TOKENS, bertviz_height, bertviz_page

# bertviz opens its script and leaves the closing to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed file .*head_view.js:ResourceWarning")

HOSTILE = '</ScRiPt><script>alert(1)</script><!-- "\\ const params = {}; // HACK'
CONFIG = Path(__file__).parents[2] / ".streamlit/config.toml"


@dataclass(frozen=True)
class FakeTrace:
    source_tokens: tuple[str, ...] = ("▁The", HOSTILE, "\u2028\u202e", "</s>")
    target_tokens: tuple[str, ...] = ("<s>", "▁Das", "▁Tier")
    num_layers: int = 2

    def weights(self, site, layer):
        queries = len(self.source_tokens if site == "encoder.self" else self.target_tokens)
        keys = len(self.target_tokens if site == "decoder.self" else self.source_tokens)
        scores = torch.randn(5, queries, keys, generator=torch.Generator().manual_seed(layer))
        return scores.softmax(-1)


@pytest.fixture(scope="module")
def page():
    return bertviz_page(FakeTrace(), dark=False)


def scripts_of(page):
    return re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL | re.IGNORECASE)


def params_of(page):
    (own,) = (script for script in scripts_of(page) if "const params = " in script)
    return json.JSONDecoder().raw_decode(own, own.index("const params = ") + len("const params = "))[0]


def test_the_page_asks_for_nothing_outside(page):
    without_libraries = page
    for library in bertviz_view._libraries():
        without_libraries = without_libraries.replace(library, "")
    assert "src=" not in without_libraries
    assert "<link" not in without_libraries
    # bertviz's own configuration of require.js names the CDN; the shim never reads it, and the policy forbids it.
    assert set(re.findall(r"https?://[^'\"\s]+", without_libraries)) <= {
        "https://cdnjs.cloudflare.com/ajax/libs/d3/5.7.0/d3.min",
        "https://cdnjs.cloudflare.com/ajax/libs/jquery/2.0.0/jquery.min",
        "https://github.com/tensorflow/tensor2tensor/blob/master/tensor2tensor/visualization/attention.js",
    }


def test_only_the_four_scripts_written_here_may_run(page):
    scripts = scripts_of(page)
    assert len(scripts) == 4
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#x27;", "'")
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert policy == f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'"


def test_a_token_cannot_close_the_script(page):
    assert "alert(1)</" not in page
    assert page.lower().count("</script>") == 4
    assert params_of(page)["attention"][0]["left_text"][1] == HOSTILE.replace(" ", "␣")


def test_tokens_are_shown_as_everywhere_else(page):
    encoder, decoder, cross = params_of(page)["attention"]
    assert encoder["left_text"] == encoder["right_text"] == cross["right_text"]
    assert encoder["left_text"][0] == "▁The"
    assert encoder["left_text"][2] == "\\u2028\\u202e"
    assert decoder["left_text"] == cross["left_text"] == ["<s>", "▁Das", "▁Tier"]


def test_all_three_attentions_are_there_to_three_decimals(page):
    trace = FakeTrace()
    views = params_of(page)["attention"]
    assert [view["name"] for view in views] == ["Encoder", "Decoder", "Cross"]
    for view, site in zip(views, ("encoder.self", "decoder.self", "decoder.cross"), strict=True):
        exact = np.stack([trace.weights(site, layer).numpy() for layer in range(2)])
        assert np.abs(np.array(view["attn"]) - exact).max() <= 0.000501
    assert not re.search(r"0\.\d{4}", json.dumps(views))


def test_the_data_stands_in_the_page_once(page):
    assert page.count("left_text") - page.count(".left_text") == 3
    assert "PYTHON_PARAMS" not in page


def test_layers_count_from_one(page):
    assert params_of(page)["include_layers"] == [1, 2]


def test_a_page_of_64_tokens_stays_under_two_megabytes():
    tokens = ("▁word",) * MAX_TOKENS
    page = bertviz_page(FakeTrace(tokens, tokens, num_layers=4), dark=True)
    assert len(page) < 2_000_000


def test_a_longer_sentence_is_refused_with_what_to_do():
    tokens = ("▁word",) * (MAX_TOKENS + 1)
    with pytest.raises(InputTextError, match="up to 64 tokens; this sentence has 65"):
        bertviz_page(FakeTrace(tokens, ("<s>",)), dark=False)


@pytest.mark.parametrize(("dark", "theme"), [(False, "light"), (True, "dark")])
def test_the_colours_are_those_of_the_theme(dark, theme):
    colours = tomllib.loads(CONFIG.read_text())["theme"][theme]
    style = re.search(r"<style>(.*?)</style>", bertviz_page(FakeTrace(), dark=dark), re.DOTALL)[1]
    assert f"color: {colours['textColor']}; background: {colours['backgroundColor']}" in style
    assert f"text {{ fill: {colours['textColor']}" in style
    assert f"color-scheme: {theme}" in style


def test_the_height_follows_the_longer_side():
    assert bertviz_height(FakeTrace(target_tokens=("a",) * 40)) == 900 + 92


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setattr(bertviz_view, "_LIBRARIES", (("no_such_package.at_all", "x.js", "NoSuch"),))
    bertviz_view._libraries.cache_clear()
    with pytest.raises(RuntimeError, match="the package NoSuch is missing"):
        bertviz_view._libraries()
    bertviz_view._libraries.cache_clear()
