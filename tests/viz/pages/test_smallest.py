"""Every view draws the smallest that its models read: one layer, one head, a text of one token, one step.

Of a Headlight model `</s>` is a token of the source beside it, and one step reads `<s>` and ends the translation.
"""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import transformers
from streamlit.testing.v1 import AppTest

from model.tokenizer import Tokenizer
from tests.benchmarks.forged import TABS
from tests.model.adapters import zoo
from tests.viz.page_run import app_of, healthy, run_page
from tests.viz.pages.learn.explore.opening import place
from tests.viz.sent import charts, numbers, unpack
from tests.viz.smallest import TEXT, save_smallest
from viz.pages.learn.explore import TOPICS
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS

#: Page → its tabs that show something of a text or of a model.
OF_EVERY: Final = {
    "attention": FIELDS["attention_tab"].options,
    "decoding": (*FIELDS["decoding_tab"].options, "Beam search", "Sampling", "Logit lens", "Attribution"),
    "learn": ("The Transformer",),
}
OF_OURS: Final = OF_EVERY | {
    "coreference": ("Side by side", "Cause"),
    "experiments": ("Ablations",),
    "model_card": ("Overview",),
}
#: Other ways to see the first tab of the attention page.
WAYS: Final = (
    {"drawn": "Lines"}, {"measure": "norms"}, {"measure": "rollout"}, {"figure": "entropy", "order": "highest"},
    {"special": "False"}, {"site": "decoder.self"}, {"site": "decoder.cross", "drawn": "Lines"},
)  # fmt: skip
NO_NUMBER: Final = re.compile(r"(?<!\w)(?:nan|inf|infinity)(?!\w)", re.IGNORECASE)
#: A layer or a head other than the first.
NO_SUCH_HEAD: Final = re.compile(r"\b(?:L|H|[Ll]ayer |[Hh]ead )(?!1(?!\d))[-−]?\d")


@pytest.fixture(scope="module")
def smallest(tmp_path_factory: pytest.TempPathFactory, tokenizer: Tokenizer) -> Path:
    root = tmp_path_factory.mktemp("smallest")
    save_smallest(root / "en-de", tokenizer)
    zoo.tiny("gpt2", changes={"n_layer": 1, "n_head": 1}).save_pretrained(root / "gpt2")
    zoo.save_tokenizer(root / "gpt2", "bytes")
    patch = {"num_hidden_layers": 1, "num_attention_heads": 1, "image_size": 8}
    zoo.tiny("vit", changes=patch).save_pretrained(root / "vit")
    transformers.ViTImageProcessorPil(size={"height": 8, "width": 8}).save_pretrained(root / "vit")
    return root


@pytest.fixture(autouse=True)
def listed(smallest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(smallest))


def opened(model: str, page: str, tab: str, **choices: str) -> AppTest:
    field = {path.split("/")[2]: field for path, field in TABS.items()}[page]
    return healthy(run_page(app_of(checkpoint=model, text=TEXT, **{FIELDS[field].param: tab}, **choices), page))


def without_numbers(value: Any) -> Iterator[str]:
    """What of a chart is no number where a number belongs."""
    if isinstance(value, dict) and "bdata" in value:
        drawn = numbers(value)
        if drawn.dtype.kind == "f" and not np.isfinite(drawn).all():
            yield str(drawn)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from without_numbers(part)
    elif isinstance(value, str) and NO_NUMBER.search(value):
        yield value


def names_other_rows(axis: Any) -> bool:
    """Whether each row, or column, of an axis has a name and the axis does not end half a row beyond the outermost."""
    if not isinstance(axis, dict) or "range" not in axis or axis.get("type") == "log":
        return False
    named = axis.get("tickvals") or []
    return named != [] and named == list(range(len(named))) and sorted(axis["range"]) != [-0.5, len(named) - 0.5]


def check(app: AppTest) -> None:
    """It shows something, and nothing that is no number or no head."""
    shown = [*app.caption, *app.markdown, *app.html, *app.info, *app.warning]
    said = [unescape(re.sub("<style.*?</style>|<[^>]*>", " ", str(one.value), flags=re.DOTALL)) for one in shown]
    assert not [text for text in said if NO_NUMBER.search(text)]
    drawn, components = charts(app), app.get("bidi_component")
    assert not list(without_numbers(drawn))
    assert all(chart["data"] for chart in drawn)
    assert [axis for chart in drawn for axis in chart["layout"].values() if names_other_rows(axis)] == []
    # What a model of random weights writes, "H8" too, is in none of these.
    read = [str(one.value) for one in (*app.caption, *app.markdown)]
    read += [chart.proto.alt for chart in app.get("plotly_chart")]
    assert [text for text in read if NO_SUCH_HEAD.search(text)] == [], "one layer and one head are counted from 1"
    for component in components:
        header, arrays = unpack(component.proto.bytes)
        assert not NO_NUMBER.search(json.dumps(header)), component.proto.component_name
        assert all(np.isfinite(array).all() for array in arrays), component.proto.component_name


@pytest.mark.parametrize(
    ("model", "page", "tab"),
    [
        *(("en-de", page, tab) for page, tabs in OF_OURS.items() for tab in tabs),
        *(("gpt2", page, tab) for page, tabs in OF_EVERY.items() for tab in tabs),
        *(("vit", "attention", tab) for tab in OF_EVERY["attention"]),
    ],
)
def test_every_view_of_the_smallest_is_drawn_in_numbers(model: str, page: str, tab: str) -> None:
    check(opened(model, page, tab))


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("model", ["en-de", "gpt2"])
def test_every_topic_of_explore_is_drawn_in_numbers(model: str, topic: str) -> None:
    # The lesson above one of them needs small models that are not there, and says so.
    app = run_page(app_of(checkpoint=model, text=TEXT, **place(topic)), "learn")
    assert not app.exception
    check(app)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_every_way_to_see_all_heads_is_drawn_in_numbers(way: dict[str, str]) -> None:
    check(opened("en-de", "attention", "All heads", **way))
