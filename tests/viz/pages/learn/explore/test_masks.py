"""Masks as pictures and on the page: every cell says whether it is allowed, or why not."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.errors import InputTextError
from tests.viz.pages.learn.explore.opening import exploring
from tests.viz.sent import charts, unlinked
from viz.pages.learn.explore.masks import MAX_COMPANIONS, SiteMask, companions
from viz.pictures.figures.masks import ALLOWED, BOTH, FUTURE, PADDING, STATES, mask_heatmap, reasons

SENTENCE = "The animal was tired."


def test_every_cell_says_whether_it_is_allowed_or_why_not_in_a_colour_of_its_own() -> None:
    causal = np.array([[True, False], [True, True], [True, False], [True, True]])
    padding = np.array([[True, True], [True, True], [False, False], [False, True]])
    assert reasons(causal, padding).tolist() == [
        [ALLOWED, FUTURE],
        [ALLOWED, ALLOWED],
        [PADDING, BOTH],
        [PADDING, ALLOWED],
    ]
    codes = np.array([[0, 1, 3], [2, 0, 0]], np.uint8)
    heatmap = mask_heatmap(codes, ["q", "r"], ["a", "b", "<pad>"], rows_write=False).data[0]
    np.testing.assert_array_equal(heatmap.z, codes)
    assert heatmap.customdata.tolist() == [[STATES[code] for code in row] for row in codes]
    for part in ("%{y}", "%{x}", "%{customdata}"):
        assert part in heatmap.hovertemplate


def test_blank_lines_are_no_sentences_and_one_sentence_too_many_is_refused() -> None:
    assert companions("\n Yes. \n\n  \nNo.\n") == ("Yes.", "No.")
    assert companions(" \n ") == ()
    assert len(companions("Yes.\n" * MAX_COMPANIONS)) == MAX_COMPANIONS
    with pytest.raises(
        InputTextError, match=f"At most {MAX_COMPANIONS} .* there are {MAX_COMPANIONS + 2} lines. Remove 2"
    ):
        companions("Yes.\n" * (MAX_COMPANIONS + 2))


def test_the_share_of_padding_on_the_page_is_that_of_the_tokens(app: AppTest, translator: Translator) -> None:
    texts = ["Hi.", "Tom told me that he would be late."]
    exploring(app, "masks", text=texts[0], companion=texts[1])
    masks = translator.masks(texts)
    for name, rows in (("Source", masks.source_tokens), ("Translation", masks.target_tokens)):
        cells = [token == "<pad>" for row in rows for token in row]
        said = next(
            unlinked(element.value) for element in app.markdown if unlinked(element.value).startswith(f"**{name}**")
        )
        share = f"{100 * sum(cells) / len(cells):.0f}%"
        assert said == f"**{name}**: {share} padding, {sum(cells)} of {len(cells)} cells"


@pytest.mark.parametrize(
    ("typed", "said"), [("Hi.\n" * 9, "At most 8"), ("Hi.\n" + "word " * 900, "Sentence 3 is too long")]
)
def test_a_batch_that_will_not_do_leaves_the_masks_of_the_sentence(app: AppTest, typed: str, said: str) -> None:
    exploring(app, "masks")
    app.text_area(key="batch_sentences").set_value(typed).run()
    assert not app.exception
    assert said in app.error[0].value
    assert app.text_area(key="batch_sentences").value == typed
    assert len(charts(app)) == 3


def test_the_parts_of_each_mask_of_a_batch_make_up_the_one_the_model_used(translator: Translator) -> None:
    masks = translator.masks([SENTENCE, "Hi.", "Tom told me that he would be late."])
    for row in range(3):
        used = (masks.encoder_self, masks.decoder_self, masks.decoder_cross)
        parts = SiteMask.in_batch(masks, row)
        for site, expected in zip(("encoder.self", "decoder.self", "decoder.cross"), used, strict=True):
            np.testing.assert_array_equal(reasons(parts[site].causal, parts[site].padding) == ALLOWED, expected[row])


def test_the_rows_of_a_batch_are_named_as_those_of_each_sentence_alone(translator: Translator) -> None:
    texts = [SENTENCE, "Hi.", "Tom told me that he would be late."]
    masks = translator.masks(texts)
    for row, text in enumerate(texts):
        alone = translator.trace(text).row_names("decoder.self")
        assert masks.row_names[row][: len(alone)] == alone
        assert set(masks.row_names[row][len(alone) :]) <= {"<pad>"}
