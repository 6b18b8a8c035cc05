import base64
import json
import re
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from model import Translator
from model.trace.trace import Trace
from tests.viz.sent import unpack
from viz.pages.attention import view_page as writer
from viz.pages.attention.view_page import OpenView, page_bytes, view_page
from viz.text.messages import speaking

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


def test_the_same_view_is_the_same_file(page: str, trace: Trace) -> None:
    assert made(trace) == page


def test_only_its_script_may_run_and_nothing_may_be_fetched(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert policy.count("sha256-") == page.count("<script") == page.count("</script>") == 1
    assert "http" not in policy.replace("http-equiv", "")


def test_no_text_of_people_leaves_its_place(trace: Trace, page: str) -> None:
    hostile = replace(
        trace,
        text=HOSTILE,
        translation=HOSTILE,
        source_tokens=(HOSTILE,) * len(trace.source_tokens),
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


@pytest.mark.parametrize("most", [writer._MOST_BYTES, 10])
def test_how_large_the_file_gets_is_known_before(
    translator: Translator, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(writer, "_MOST_BYTES", most)
    sizes = []
    for text in ("Tom.", "The dog was tired, and so was the old man in the garden."):
        long = translator.trace(text, "Tom.")
        queries, keys = map(len, long.axis_tokens("encoder.self"))
        page = made(long, OpenView("encoder.self", "Encoder self-attention", 0, 0, "", ()))
        sizes.append((len(page.encode()), page_bytes(8, queries, keys)))
    (short, expected), (longer, expected_longer) = sizes
    assert longer - short == pytest.approx(expected_longer - expected, rel=0.25)


def test_an_attention_may_have_layers_of_its_own_number(trace: Trace) -> None:
    uneven = replace(trace, inputs=MappingProxyType({**trace.inputs, "encoder.self": trace.inputs["encoder.self"][:1]}))
    view = OpenView("encoder.self", "Encoder self-attention", 0, 0, "", ())
    assert len(payloads(made(uneven, view))) == 3 + 4


def test_of_a_large_attention_only_the_open_head_is_exact(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MOST_BYTES", 10)
    _, _, matrix = payloads(made(trace))
    np.testing.assert_array_equal(matrix[1][0], trace.weights("decoder.cross", 1)[2].numpy().ravel())


def test_the_page_is_in_the_language_in_which_it_is_made(trace: Trace, page: str) -> None:
    with speaking("zh"):
        chinese = made(trace)
    assert '<html lang="zh">' in chinese
    assert "<h1>注意力</h1>" in chinese
    assert '<html lang="en">' in page
    assert "<h1>Attention</h1>" in page
