"""The open head over a picture: what is sent to be drawn; a rectangle by whose weight heads are ranked, and hidden."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model.sources.source import Grid, PictureSource
from tests.viz.page_run import healthy, opened, traced
from tests.viz.sent import sent_to, unlinked, unpack
from viz.access import attention, texts
from viz.access.attention import MatrixView
from viz.pages.attention.opened_head.picture_panel import over_picture
from viz.pictures.payload import pack
from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import CROSS, ENCODER
from viz.ui import snippets

TEXT = "The animals that cannot swim crossed."
#: The picture that the model of pictures reads has 24 pixels a side, in patches of 8.
AREA = (9, 9, 24, 24)


@pytest.mark.parametrize("is_long", [False, True], ids=["short", "too long for a whole layer"])
def test_each_word_is_sent_with_what_it_gives_to_every_patch_and_to_what_has_no_place(
    is_long: bool, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    monkeypatch.setattr(attention, "SHORT", 4 if is_long else 512)
    selection = Selection().changed(checkpoint="en-de", text=TEXT, layer=1, head=2, sinks=False)
    read = traced(TEXT, selection)
    # The tokens of the text stand for a special token and for patches in two rows, of which the last is padding.
    columns = (len(read.source_tokens) - 1) // 2
    after = len(read.source_tokens) - 1 - 2 * columns
    pixels = torch.arange(2 * 4 * columns * 5 * 3).remainder(256).to(torch.uint8).view(8, columns * 5, 3)
    grid = Grid.regular(pixels, 2, columns, (4, 5), before=1, after=after)
    trace = replace(read, source=PictureSource.of_grid("a.png", grid, ["[CLS]"] + ["[PAD]"] * after))
    monkeypatch.setattr(state, "current", lambda: selection)
    header, (values, sent_pixels, rectangles) = unpack(pack(over_picture(trace, CROSS)))
    assert attention.is_long(trace, CROSS) == is_long
    queries, _ = attention.shown_axes(trace, CROSS, MatrixView("weights", whole_words=True, sinks=True))
    assert max(map(len, queries.groups)) > 1
    held = trace.weights(CROSS, 1)[2].numpy()
    expected = np.stack([held[list(group)].mean(0) for group in queries.groups])
    np.testing.assert_allclose(values.reshape(expected.shape), expected, atol=1e-6)
    np.testing.assert_array_equal(sent_pixels, pixels.flatten())
    assert rectangles.reshape(-1, 4)[columns + 1].tolist() == [0, 4, 5, 8]
    assert not rectangles[:4].any()
    assert header["tokens"][0] == "[CLS]"
    assert (header["isSelf"], header["showsSpecial"]) == (False, False)


def test_heads_are_ranked_by_what_a_patch_gives_to_a_rectangle(any_model: AppTest) -> None:
    app = opened(any_model, checkpoint="vit", site=ENCODER, token=3, area=".".join(map(str, AREA)))
    trace = traced("", app.session_state["selection"])
    patches = texts.patches_in(trace, AREA)
    assert [trace.source_tokens[patch] for patch in patches] == ["2·2", "2·3", "3·2", "3·3"]
    weights = torch.stack([trace.weights(ENCODER, layer)[:, 3, list(patches)].sum(-1) for layer in range(2)])
    best = weights.max()
    layer, head = (int(at) for at in torch.unravel_index(weights.argmax(), weights.shape))
    assert app.button(key="linked-0").label.endswith(f"L{layer + 1} H{head + 1} · {best:.4f}")
    ((over, _),) = sent_to(app, "picture_attention")
    assert (over["area"], over["query"]) == (list(AREA), 3)


@pytest.mark.parametrize("colour", ["grey", "mean"])
def test_a_rectangle_is_hidden_from_the_model_and_it_is_said_which_head_changes(
    colour: str, any_model: AppTest
) -> None:
    app = opened(any_model, checkpoint="vit", site=ENCODER, token=3, area=".".join(map(str, AREA)))
    whole = traced("", app.session_state["selection"])
    app.button(key=f"hide-{colour}").click()
    selection = healthy(app.run()).session_state["selection"]
    hidden = traced("", selection)
    before, after = (each.source.grid for each in (whole, hidden))
    assert before is not None
    assert after is not None
    left, top, right, bottom = AREA
    within = torch.zeros(before.pixels.shape[:2], dtype=torch.bool)
    within[top:bottom, left:right] = True
    assert len(after.pixels[within].unique(dim=0)) == 1
    torch.testing.assert_close(after.pixels[~within], before.pixels[~within], atol=0, rtol=0)
    shift = torch.stack(
        [(whole.weights(ENCODER, n)[:, 3] - hidden.weights(ENCODER, n)[:, 3]).abs().sum(-1) / 2 for n in range(2)]
    )
    (said,) = [unlinked(each.value) for each in app.caption if "changes most" in unlinked(each.value)]
    assert f"{float(shift.max()):.3f} of its weight has moved" in said
    numbers = re.findall(r"\d\.\d{3}", said)
    layer, head = (int(at) for at in torch.unravel_index(shift.argmax(), shift.shape))
    patches = list(texts.patches_in(whole, AREA))
    for trace, number in zip((whole, hidden), numbers[1:], strict=True):
        assert number == f"{float(trace.weights(ENCODER, layer)[head, 3, patches].sum()):.3f}"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(state, "current", lambda: selection)
        lines = list(snippets.of_text(hidden, {}))
    assert f"trace_picture(PartlyHidden(example_picture('scene'), {AREA}, '{colour}'))" in lines[-1]
    assert any("import" in each and "PartlyHidden, example_picture" in each for each in lines)
    app.button(key="show-part").click()
    again = healthy(app.run()).session_state["selection"]
    assert traced("", again).key == whole.key
    assert (again.attention.area, again.common.token) == (AREA, 3)
