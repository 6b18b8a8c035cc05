"""Two models on one sentence, on the page."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model.analysis.two_models import head_distances
from model.opening import open_reader
from tests.model.adapters.marian_folders import write_marian
from tests.patience import PATIENCE
from tests.viz.page_run import healthy
from tests.viz.pages.any_model import opened
from tests.viz.sent import charts, numbers_of, unlinked
from viz.pages.coreference import data
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.choices import ModelChoice
from viz.selection.examples import EXAMPLES
from viz.ui.long_work import in_this_thread

TEXT = EXAMPLES[0].text


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    any_model.query_params["lab"] = "Two models"
    return any_model


def compared(app: AppTest, name: str, other: str, **params: str) -> AppTest:
    app.query_params.update({"beside": other, **params})
    opened(app, name, "coreference")
    if "long-work/two-models" in app.session_state:
        assert app.session_state["long-work/two-models"].wait(PATIENCE)
    return healthy(app.run())


@pytest.mark.parametrize(
    ("name", "other", "site"),
    [
        pytest.param("en-de", "t5", "encoder.self", marks=pytest.mark.long), ("en-de", "bert", "encoder.self"),
        ("gpt2", "mpnet", "decoder.self"),
    ],
)  # fmt: skip
def test_any_two_models_have_their_distances_and_two_heads_beside_each_other(
    app: AppTest, folders: Path, name: str, other: str, site: str
) -> None:
    params = {"site": site} if site != "encoder.self" else {}
    shown = charts(compared(app, name, other, **params))
    assert len(shown) == 3
    assert any(f" of {name} is nearest to " in unlinked(one.value).replace("\\", "") for one in app.markdown)
    first, second = (open_reader(folders / one) for one in (name, other))
    sites = data.sites_of(first, second)
    found = head_distances(first, second, [TEXT], (site, sites[site]))
    drawn = numbers_of(shown[0]["data"][0])
    assert -np.array(drawn).reshape(found.distances.shape) == pytest.approx(found.distances.numpy(), abs=1e-4)
    nearest = found.matching()[0]
    common = app.session_state["selection"].common
    titles = [shown[0]["layout"][axis]["title"]["text"] for axis in ("yaxis", "xaxis")]
    assert titles == [name, other]
    assert ("site" in [each.key for each in app.segmented_control]) == (len(sites) > 1)
    # The heads that can be chosen are those of the first model.
    layers, heads = (max(places) + 1 for places in zip(*(head[1:] for head in found.first), strict=True))
    assert [len(app.selectbox(key=key).options) for key in ("layer", "head")] == [layers, heads]
    assert any("words of this text that both" in unlinked(one.value) for one in app.caption)
    # Below, the head of the first model beside the nearest of the second, between the words of the text.
    row = found.first.index((site, common.layer, common.head))
    both = found.first[row][1:], found.second[int(found.distances[row].argmin())][1:]
    read = data.read_by_both(first, second, TEXT)
    for chart, trace, of_site, head in zip(shown[1:], read, (site, sites[site]), both, strict=True):
        expected = data.head_picture(trace, of_site, *head).weights
        assert numbers_of(chart["data"][0]) ** 2 == pytest.approx(expected, abs=1e-4)
    if not params:
        assert (common.site, common.layer, common.head) == (site, *found.first[nearest[0]][1:])
    if name == "en-de":
        labels = "".join(json.dumps(one["layout"]) for one in shown[1:])
        assert "animal" in labels


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_what_both_write_is_one_text_with_its_differences(
    app: AppTest, tiny_checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_marian(tmp_path / "opus-mt-en-de")
    (tmp_path / "en-de").symlink_to(tiny_checkpoints / "en-de")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    compared(app, "en-de", "opus-mt-en-de")
    html = "".join(one.proto.body for one in app.get("html"))
    assert "<del" in html
    assert "log p per token" in html


@pytest.mark.long
def test_over_a_corpus_the_head_that_moved_most_is_named_with_sentences_from_its_deciles(
    app: AppTest, folders: Path
) -> None:
    # Both have two layers of four heads, and other tokenizers.
    compared(app, "bert", "mpnet")
    healthy(app.button(key="moved-heads-start").click().run())
    assert app.session_state["long-work/moved-heads"].wait(PATIENCE)
    healthy(app.run())
    found = in_this_thread(data.moving((ModelChoice("bert"), ModelChoice("mpnet"))))
    _site, layer, head = found.heads[found.ranked()[0]]
    assert any(f"L{layer + 1} H{head + 1}" in one.value and "moved most" in unlinked(one.value) for one in app.markdown)
    tables_shown = "".join(one.proto.body for one in app.get("html"))
    assert all(found.texts[text].partition("'")[0] in tables_shown for text in found.deciles(found.ranked()[0]))
