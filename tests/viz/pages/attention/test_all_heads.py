"""The grid of all heads on its page: metrics, orders and filters, and which heads link two words."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Trace
from tests.viz.page_run import app_of, traced
from tests.viz.sent import caught, sent_to, unlinked
from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.pages.attention.all_heads import linked_heads
from viz.pages.attention.all_heads.linked_heads import MOST
from viz.pictures.focus import FocusAxis
from viz.selection import state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.metrics import OF_SENTENCES
from viz.text.written import CROSS, DECODER, ENCODER, SITES, head_label
from viz.ui.words import KEY, NOTHING, Chosen, WordLine, Words, read_chosen, word_picker

TEXT = Selection().common.text


def grid_of(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "head_grid")
    return header


def test_at_first_tiles_carry_nothing_and_every_figure_ranks_and_filters_heads_and_stands_in_the_link(
    app: AppTest,
) -> None:
    header = grid_of(app.run())
    assert (header["metric"], header["ranked"], header["notes"]) == (None, None, [])
    assert not {"order", "max_heads"} & {box.key for box in app.selectbox}
    ((header, _),) = sent_to(app, "word_picker")
    ((question, _),) = sent_to(app, "link_question")
    words = [word for line in header["lines"] for word in line["words"]]
    assert question["asked"] == [words[index] for (index,) in header["chosen"]]
    assert question["asked"][1] == "animal"
    ((headline, _),) = sent_to(app, "headline")
    assert "“animal”" in "".join(headline["suggestion"])
    for figure in OF_SENTENCES:
        header = grid_of(app.selectbox(key="metric").set_value(figure).run())
        assert len(header["metric"]["texts"]) == 8, figure
        assert header["ranked"] is None
        assert app.query_params["figure"] == figure
    # Heads are ranked and filtered.
    app.selectbox(key="metric").set_value("entropy").run()
    app.selectbox(key="order").set_value("lowest").run()
    header = grid_of(app.selectbox(key="max_heads").set_value(4).run())
    numbers = [float(header["metric"]["texts"][head]) for head in header["ranked"]]
    assert numbers == sorted(map(float, header["metric"]["texts"]))[:4]
    assert dict(app.query_params) == {"figure": "entropy", "order": "lowest", "keep": "4"}
    header = grid_of(app.selectbox(key="order").set_value("layers").run())
    assert header["ranked"] is None
    assert not [box for box in app.selectbox if box.key == "max_heads"]


def test_a_figure_without_meaning_at_a_site_is_explained_and_comes_back_at_another(app: AppTest) -> None:
    app.query_params.update({"figure": "next", "order": "highest", "site": "decoder.cross"})
    header = grid_of(app.run())
    assert (header["metric"], header["ranked"]) == (None, None)
    assert "one sentence to another" in unlinked(app.info[0].value)
    header = grid_of(app.segmented_control(key="site").set_value("encoder.self").run())
    assert (header["metric"]["name"], len(header["ranked"])) == ("Next token", 8)
    assert not app.info


def test_tiles_of_all_three_attentions_wait_in_the_browser_and_the_grid_names_them(
    app: AppTest, selection: Selection
) -> None:
    app.query_params["site"] = "decoder.cross"
    app.run()
    header = grid_of(app)
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    addresses = [attention.tiles_key(traced(TEXT, selection), site) for site in SITES]
    assert header["followed"] == {"control": "site", "addresses": addresses, "jobs": [None] * 3}
    assert set(kept) == set(addresses)
    assert header["address"] == addresses[2]
    trace = traced(TEXT, selection)
    for site, address in zip(SITES, addresses, strict=True):
        assert tuple(kept[address]["queryTokens"]) == trace.row_names(site)
        assert tuple(kept[address]["keyTokens"]) == trace.axis_tokens(site)[1]


def listed(app: AppTest) -> list[str]:
    return [button.label for button in app.button if (button.key or "").startswith("linked-")]


def test_what_the_mask_forbids_is_said(app: AppTest) -> None:
    app.query_params.update({"site": DECODER, "token": "2", "key_token": "3", "words": "False"})
    app.run()
    assert not listed(app)
    assert any("the mask hides that token from every head" in unlinked(caption.value) for caption in app.caption)


@pytest.mark.parametrize("words", [True, False])
def test_tiles_carry_the_weight_of_the_kept_cell_and_its_heads_are_listed(
    app: AppTest, selection: Selection, words: bool
) -> None:
    app.query_params.update({"site": CROSS, "token": "2", "key_token": "3", "figure": "kept", "order": "highest"})
    app.query_params["words"] = str(words)
    app.run()
    ((header, _),) = sent_to(app, "head_grid")
    trace, view = traced(TEXT, selection), MatrixView("weights", whole_words=words, sinks=True)
    layers = [attention.opened_layer(trace, models.reader(selection.model), CROSS, layer, view) for layer in range(2)]
    row, column = layers[0].queries.index_of(2), layers[0].keys.index_of(3)
    assert (len(layers[0].queries.groups[row or 0]) > 1) == words, "otherwise the word is no other cell"
    # As the open head shows it: between words, or between the two tokens.
    weights = [float(weight) for layer in layers for weight in layer.values[:, row, column]]
    ((question, _),) = sent_to(app, "link_question")
    written = layers[0].queries.labels[row or 0].replace("▁", "")
    assert question["asked"] == [written, layers[0].keys.labels[column or 0].replace("▁", "")]
    assert header["metric"]["texts"] == [f"{weight:.2f}" for weight in weights]
    assert header["ranked"] == sorted(range(8), key=lambda index: -weights[index])
    assert app.query_params["figure"] == "kept"
    # The heads are listed from the largest weight on; one of them opens, and the cell stays kept.
    named = [(head_label(index // 4, index % 4, CROSS), weights[index]) for index in header["ranked"]]
    assert listed(app) == [f"{name} · {weight:.4f}" for name, weight in named[:MOST]]
    app.button(key="linked-0").click().run()
    chosen = [int(part) - 1 for part in re.findall(r"\d+", app.query_params["head"])]
    assert head_label(chosen[0], chosen[1], CROSS) == named[0][0]
    kept = [int(app.query_params[name]) for name in ("token", "key_token")]
    assert (layers[0].queries.index_of(kept[0]), layers[0].keys.index_of(kept[1])) == (row, column)


@pytest.mark.parametrize("words", [True, False])
def test_two_words_are_looked_for_in_the_attention_that_joins_them_and_ranked(
    app: AppTest, selection: Selection, words: bool
) -> None:
    trace = traced(TEXT, selection)
    known = texts.words(trace)
    looking, looked_at = known.num_source, 1
    app.query_params.update({"from": str(looking), "to": str(looked_at), "site": CROSS, "figure": "kept"})
    app.query_params["words"] = str(words)
    app.run()
    link = texts.link(trace, (looking,), (looked_at,))
    assert link is not None
    expected = sorted(
        ((weight, f"{head_label(layer, head, CROSS)} · {weight:.4f}")
         for (layer, head), weight in np.ndenumerate(texts.weights(trace, link))),
        key=lambda one: -one[0],
    )  # fmt: skip
    assert listed(app) == [label for _, label in expected[:MOST]]
    ((header, _),) = sent_to(app, "head_grid")
    assert header["metric"]["texts"] == [f"{weight:.2f}" for weight in texts.weights(trace, link).flat]
    # Those of the list are framed in the grid, whatever number its tiles carry.
    assert [head_label(index // 4, index % 4, CROSS) for index in header["framed"]] == [
        label.partition(" · ")[0] for label in listed(app)
    ]
    ((picker, _),) = sent_to(app, "word_picker")
    ((question, _),) = sent_to(app, "link_question")
    assert picker["chosen"] == question["chosen"] == [[looking], [looked_at]]
    assert question["asked"] == [known.labels[looking], known.labels[looked_at]]
    # The map frames the cell of both; the words stay in the address.
    assert (app.query_params["token"], app.query_params["key_token"]) == (str(link.rows[0]), str(link.keys[0]))
    assert app.query_params["from"] == str(looking)


def test_two_words_stay_chosen_in_an_attention_where_they_do_not_meet(app: AppTest, selection: Selection) -> None:
    app.query_params.update({"from": "1", "to": "2", "site": CROSS})
    app.run()
    assert {label.split()[0] for label in listed(app)} == {"encoder"}
    assert grid_of(app)["framed"] == []
    app.segmented_control(key="site").set_value(ENCODER).run()
    link = texts.link(traced(TEXT, selection), (1,), (2,))
    assert link is not None
    assert (app.query_params["token"], app.query_params["key_token"]) == (str(link.rows[0]), str(link.keys[0]))
    assert (app.query_params["from"], app.query_params["to"]) == ("1", "2")


def test_no_attention_leads_from_the_text_to_its_translation(app: AppTest, selection: Selection) -> None:
    written = texts.words(traced(TEXT, selection)).num_source
    app.query_params.update({"from": "1", "to": str(written)})
    app.run()
    assert not listed(app)
    assert any("No attention leads from “animal” to" in unlinked(caption.value) for caption in app.caption)


@pytest.mark.parametrize(
    "value",
    [
        None, [], {"looking": [0]}, {"looking": 0, "lookedAt": []}, {"looking": [0], "lookedAt": [3]},
        {"looking": [True], "lookedAt": [0]}, {"looking": [], "lookedAt": [0]}, {"looking": [-1], "lookedAt": []},
        {"looking": [0, 2], "lookedAt": []}, {"looking": [0, 0], "lookedAt": []},
    ],
)  # fmt: skip
def test_what_names_no_words_is_no_choice(value: object) -> None:
    source, target = FocusAxis("source", groups=((0,), (1,))), FocusAxis("target", groups=((1,),))
    lines = [WordLine("EN", "en", ("a", "b"), (0, 0), source), WordLine("DE", "de", ("c",), (0,), target)]
    assert read_chosen({"looking": [2], "lookedAt": [1, 0]}, lines) == ((2,), (1, 0))
    assert read_chosen({"looking": [2], "lookedAt": []}, lines) == ((2,), ())
    assert read_chosen({"looking": [], "lookedAt": []}, lines) == ((), ())
    assert read_chosen(value, lines) is None


def test_an_answer_says_which_choice_of_words_came_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})
    shown = caught(monkeypatch)
    heard: list[Chosen] = []
    line = WordLine("EN", "en", ("a", "b"), (0, 0), FocusAxis("source", groups=((0,), (1,))))

    def answered(value: object) -> int:
        word_picker(Words([line], NOTHING), on_choose=heard.append, key=KEY)
        shown[-1].answers["chosen"](value)
        word_picker(Words([line], NOTHING), on_choose=heard.append, key=KEY)
        return int(shown[-1].header["heard"])

    assert answered(None) == 0
    assert answered({"looking": [1], "lookedAt": [], "serial": 5}) == 5
    # Words that are gone are no choice, but the browser is to know that its choice came.
    assert answered({"looking": [9], "lookedAt": [], "serial": 6}) == 6
    for serial in ("7", True, None, 7.5):
        assert answered({"looking": [], "lookedAt": [], "serial": serial}) == 6
    assert heard[:2] == [((1,), ()), ((), ())]


@pytest.fixture
def held(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> Selection:
    """The selection with which a session begins."""
    monkeypatch.setattr(st, "session_state", {"selection": selection})
    return selection


def kept_cell() -> tuple[int | None, int | None]:
    return state.current().common.token, state.current().common.key_token


def trace_of(held: Selection) -> Trace:
    """The text with a translation of several words."""
    return models.translator(held.model).trace(TEXT, "Das Tier war zu müde.")


def test_a_click_on_words_keeps_their_cell_and_the_open_head(held: Selection) -> None:
    trace = trace_of(held)
    known = texts.words(trace)
    written = next(word for word in range(known.num_source, len(known.groups)) if len(known.groups[word]) > 1)
    for site in SITES:
        state.put(held.changed(site=site, layer=1, head=3, whole_words=False))
        for looking, looked_at in (
            ((1,), ()),
            ((1,), (0,)),
            ((written,), (1,)),
            ((written,), (written,)),
            ((1, 2), (4,)),
        ):
            linked_heads.choose(trace, (looking, looked_at))
            common, chosen = state.current().common, state.current().attention
            assert (common.site, common.layer, common.head, chosen.metric) == (site, 1, 3, "")
            assert (common.from_words, common.to_words) == (looking, looked_at)
            link = texts.link(trace, looking, looked_at) if looked_at else None
            if link is not None and link.site == site:
                assert kept_cell() == (link.rows[0], link.keys[0])
            elif looked_at:
                assert kept_cell() == (None, None)
            else:
                assert kept_cell() == texts.cell_of_word(trace, site, looking[0])


@pytest.mark.parametrize("kept", [{}, {"token": 2, "key_token": 1}, {"head": 3}])
def test_who_lets_go_of_words_has_again_what_was_kept_before(held: Selection, kept: dict[str, int]) -> None:
    trace, before = trace_of(held), held.changed(site=CROSS, layer=1, head_chosen=False).changed(**kept)
    state.put(before)
    for chosen in (((1,), ()), ((1,), (2,)), ((0,), ()), ((), ())):
        linked_heads.choose(trace, chosen)
    assert state.current() == before
    # Of another head, opened meanwhile, nothing was kept.
    linked_heads.choose(trace, ((1,), ()))
    state.put(state.current().changed(head=2))
    linked_heads.choose(trace, ((), ()))
    assert (kept_cell(), state.current().common.head, state.current().common.head_chosen) == ((None, None), 2, True)


def test_sentence_and_list_name_the_row_that_is_shown_where_it_is_a_part_of_what_is_chosen(
    tiny_checkpoints: Path, selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    trace = traced(TEXT, selection)
    known = texts.words(trace)
    many, one = (
        next(word for word in range(known.num_source) if (len(known.groups[word]) > 1) == is_long)
        for is_long in (True, False)
    )
    first, single = (trace.source_tokens[known.groups[word][0]] for word in (many, one))
    for looking, words, said in (
        ((many,), "False", f"Row shown: {first}. Of “{texts.name_of(trace, many)}”, only the first token is shown."),
        ((one,), "False", f"Row shown: {single}."),
        ((one, many), "True", f"Row shown: {texts.name_of(trace, one)}, the first of the 2 words chosen."),
        ((many,), "True", ""),
    ):
        asked = {"from": ".".join(map(str, looking)), "to": one, "site": ENCODER, "words": words}
        shown = app_of(**asked).run()
        ((headline, _),) = sent_to(shown, "headline")
        assert headline["row"].replace("▁", "") == said.replace("▁", "")
        listed_below = "".join(unlinked(caption.value) for caption in shown.caption).replace("\\", "")
        assert headline["row"] in listed_below
        assert ("Row shown" in listed_below) == bool(said)
