"""What is saved of a view is named by what is chosen there: layers, heads, rows and steps count from 1."""

import re
from pathlib import Path

import pytest

from tests.viz.page_run import app_of, opened
from tests.viz.pages.learn.explore.opening import exploring
from viz.selection.catalogue import ROOT_VARIABLE

SENTENCE = "tom-told-me"
HEAD: dict[str, object] = {"site": "decoder.cross", "head": "L2H3"}
#: Page or topic of Explore → its address → the names of some of its files.
NAMES: list[tuple[str, dict[str, object], set[str]]] = [
    ("attention", HEAD, {"decoder-cross-all-heads", "decoder-cross-l2h3-weights"}),
    ("attention", HEAD | {"measure": "norms"}, {"decoder-cross-all-heads-norms", "decoder-cross-l2h3-norms"}),
    ("attention", {"drawn": "Lines", "head": "L2H3"}, {"encoder-self-all-heads", "encoder-self-l2-weights"}),
    ("attention", HEAD | {"view": "Why", "token": 1, "key_token": 2}, {"why-cross-l2-h3-0xb4-to-l"}),
    ("decoding", {}, {"film"}),
    ("decoding", {"studio": "Inside"}, {"logit-lens"}),
    ("decoding", HEAD | {"search": "Beam search", "beam": 3}, {"beam-width3-penalty60"}),
    (
        "coreference",
        HEAD | {"other": "Tom told us.", "site": "encoder.self"},
        {"difference-encoder-self-l2-weights", "encoder-self-l2-row1-weights"},
    ),
    ("learn", HEAD | {"learn": "The Transformer", "depth": "head"}, {"transformer-head-decoder-cross-l2h3"}),
    ("scores", HEAD | {"token": 2}, {"scores-heads", "scores-decoder-cross-l2h3-row3"}),
    ("cost", {"step": 2}, {"cost-step3"}),
    ("smoothing", {"target_of": 2}, {"smoothed-target-3"}),
]


@pytest.mark.parametrize(("page", "address", "names"), NAMES)
def test_what_is_saved_is_named_by_what_is_chosen(
    experiment_checkpoints: Path,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    address: dict[str, object],
    names: set[str],
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    app = app_of(text="Tom told me.", checkpoint="en-de", **address)
    if page in ("scores", "cost", "smoothing"):
        exploring(app, page)
    else:
        opened(app, page)
    sent = [element.proto.bytes.decode("utf-8", "replace") for element in app.get("bidi_component")]
    sent += [chart.proto.config for chart in app.get("plotly_chart")]
    found = set(re.findall(rf"headlight-([a-z0-9-]+)-{SENTENCE}\b", " ".join(sent)))
    assert names <= found
