"""From what each of two sentences is looked at: the word that a person chose anywhere, and the one in its place.

Weights are averaged over the rows of a word and summed over the columns of a word, here from queries and keys in
float64.
"""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Trace
from tests.often import often
from tests.recomputed import head_weights, rows_of
from tests.viz.page_run import app_of, as_read, opened, traced
from tests.viz.sent import caught, charts, numbers, unlinked
from viz.access import texts
from viz.pages.attention.opened_head import panel
from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES
from viz.selection.selection import Selection
from viz.text.written import CROSS, DECODER, ENCODER, SITES, display_token
from viz.ui import finding

TEXT, OTHER = "The animal was tired because it ran.", "The animal was loud because it ran."


@pytest.fixture(params=often(("en-de", "bart", "gpt2"), ("en-de", "gpt2")))
def chosen(request: pytest.FixtureRequest, kinds: Path, monkeypatch: pytest.MonkeyPatch) -> Selection:
    """Ours, an encoder–decoder of the library, and a decoder alone, in turn."""
    monkeypatch.setenv(ROOT_VARIABLE, str(kinds))
    return Selection().changed(checkpoint=request.param, text=TEXT)


def comparing(chosen: Selection, site: str, **params: object) -> AppTest:
    common = chosen.common
    return opened(
        app_of(checkpoint=chosen.model.checkpoint, text=common.text, other=OTHER, site=site, head="L1H1", **params),
        "coreference",
    )


def rows_shown(app: AppTest) -> list[np.ndarray]:
    """The rows of all heads of a layer, of each sentence."""
    of_rows = [
        chart["data"][0] for chart in charts(app)
        if chart["data"][0].get("colorbar", {}).get("title", {}).get("text") == "weight"
    ]  # fmt: skip
    return [numbers(heatmap["customdata"]) for heatmap in of_rows]


def mean_row(trace: Trace, site: str, rows: Sequence[int]) -> np.ndarray:
    """The mean of these rows in every head of the first layer, over the words of the keys and the special tokens."""
    known, count = texts.words(trace), len(trace.axis_tokens(site)[1])
    of_source = site != DECODER
    groups = [group for word, group in enumerate(known.groups) if known.is_source(word) == of_source]
    alone = [(key,) for key in range(count) if not any(key in group for group in groups)]
    mean = head_weights(trace, site, 0)[:, list(rows)].mean(1)
    return np.stack([mean[:, list(group)].sum(1) for group in sorted([*groups, *alone])], axis=1)


def chosen_rows(trace: Trace, site: str, app: AppTest, field: str) -> tuple[int, ...]:
    """The rows of the word whose first row is chosen."""
    first: Any = app.selectbox(key=field).value
    of_words = [rows_of(trace, site, word) for word in range(len(texts.words(trace).labels))]
    return next((rows for rows in of_words if first in rows), (first,))


def listed(app: AppTest, field: str) -> str:
    """The name of the row that is chosen."""
    box: Any = app.selectbox(key=field)
    name: str = box.options[box.index]
    return name.split(" · ", 1)[1]


@pytest.mark.parametrize("site", SITES)
def test_the_word_that_a_person_chose_is_the_query_with_the_mean_of_its_rows_and_the_sum_of_its_columns(
    chosen: Selection, site: str
) -> None:
    trace, beside = traced(TEXT, chosen), traced(OTHER, chosen)
    if site not in trace.sites:
        return
    labels = texts.words(trace).labels
    choices = [(word, rows) for word in range(len(labels)) if (rows := rows_of(trace, site, word))]
    longest = max(choices, key=lambda choice: len(choice[1]))
    for word, rows in (random.Random(site).choice(choices), longest):
        app = comparing(chosen, site, **{"from": word})
        own, other = rows_shown(app)[:2]
        np.testing.assert_allclose(own, mean_row(trace, site, rows), atol=1e-5)
        assert app.selectbox(key="token").value == rows[0]
        # What a row writes stands after the arrow, what it reads before it.
        assert listed(app, "token").split(" → ")[-1 if trace.rows_write(site) else 0] == display_token(labels[word])
        of_other = chosen_rows(beside, site, app, "other_token")
        np.testing.assert_allclose(other, mean_row(beside, site, of_other), atol=1e-5)


def test_the_word_in_the_same_place_of_the_other_sentence_is_its_query(chosen: Selection) -> None:
    trace, beside = traced(TEXT, chosen), traced(OTHER, chosen)
    site = ENCODER if ENCODER in trace.sites else DECODER
    for word, twin in (("animal", "animal"), ("tired", "loud")):
        at, there = (texts.words(one).labels.index(label) for one, label in ((trace, word), (beside, twin)))
        app = comparing(chosen, site, **{"from": at})
        assert app.selectbox(key="other_token").value == rows_of(beside, site, there)[0]
        assert not any("that corresponds to" in unlinked(caption.value) for caption in app.caption)


def pictured(**params: Any) -> AppTest:
    return opened(app_of(**params), "coreference")


def shipped(text: str) -> Trace:
    return traced(text, Selection().changed(text=text))


def test_who_keeps_a_row_of_the_head_that_the_page_proposed_has_chosen_that_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(st, "session_state", {"selection": Selection()})
    trace = shipped(EXAMPLES[0].text)
    finding.open_on_finding(trace)
    proposed = state.current().common
    assert (proposed.site, proposed.head_chosen) == (CROSS, False)
    shown = caught(monkeypatch)
    panel.picture(trace, proposed.site, "Heatmap")
    picture = next(each for each in shown if "rowTokens" in each.header)
    row = next(number for number, name in enumerate(picture.header["rowTokens"]) if name.endswith("→ Straße"))
    picture.answers["kept"]({"row": row, "column": None, "axes": picture.header["axes"]})
    common = state.current().common
    assert common.head_chosen
    assert (common.site, common.layer, common.head) == (proposed.site, proposed.layer, proposed.head)
    assert common.token == trace.target_tokens.index("▁Straße") - 1


@pytest.mark.long
@pytest.mark.parametrize("site", [CROSS, DECODER])
def test_the_pronoun_es_has_sie_in_its_place_and_a_word_without_one_is_said_to_have_none(site: str) -> None:
    text, other = EXAMPLES[0].text, EXAMPLES[0].twin
    first, second = shipped(text), shipped(other)
    known = [texts.words(trace) for trace in (first, second)]
    app = pictured(site=site, **{"from": known[0].labels.index("es")})
    sie = rows_of(second, site, known[1].labels.index("sie"))
    assert app.selectbox(key="other_token").value == sie[0]
    # A word of the text is no query where the translation looks.
    app = pictured(site=site, **{"from": known[0].labels.index("cross")})
    assert any("“cross” is not a query of this attention" in as_read(caption.value) for caption in app.caption)
    # The first sentence has a word that the other lacks.
    app = pictured(site=ENCODER, text="The animal slept because it was very tired.",
                   other="The animal slept because it was tired.", **{"from": 6})  # fmt: skip
    assert any("no word that corresponds to “very”" in as_read(caption.value) for caption in app.caption)
    assert app.selectbox(key="token").value != app.selectbox(key="other_token").value
