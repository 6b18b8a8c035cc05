"""The grid of all heads on its page: metrics, orders and filters, and which heads link two words."""

import re
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import traced
from tests.viz.sent import caught, sent_to
from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.pages.attention.all_heads.linked_heads import MOST
from viz.pictures.focus import FocusAxis
from viz.selection.choices import METRICS
from viz.selection.selection import Selection
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
    for figure in METRICS[1:]:
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


def test_a_link_opens_ranked_heads_and_a_wrong_number_of_them_is_all(app: AppTest) -> None:
    app.query_params.update({"figure": "distance", "order": "highest", "keep": "5"})
    assert len(grid_of(app.run())["ranked"]) == 8


def test_a_figure_without_meaning_at_a_site_is_explained_and_comes_back_at_another(app: AppTest) -> None:
    app.query_params.update({"figure": "next", "order": "highest", "site": "decoder.cross"})
    header = grid_of(app.run())
    assert (header["metric"], header["ranked"]) == (None, None)
    assert "one sentence to another" in app.info[0].value
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


def test_tiles_show_the_measure_that_is_chosen(app: AppTest) -> None:
    app.query_params.update({"measure": "norms", "figure": "entropy"})
    app.run()
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    shown = kept[grid_of(app)["address"]]
    assert (shown["number"], shown["heads"]) == ("norm", 4)
    assert shown["top"] > 0
    assert grid_of(app)["metric"]["name"] == "Entropy"
    app.segmented_control(key="measure").set_value("rollout").run()
    header = grid_of(app)
    kept = {tiles["address"]: tiles for tiles, _ in sent_to(app, "tile_keeper")}
    assert (kept[header["address"]]["number"], kept[header["address"]]["heads"]) == ("share", 1)
    # One tile a layer: nothing that is known of a head stands under it.
    assert (header["isMean"], header["metric"], header["jobs"]) == (True, None, None)
    assert any("one tile per layer" in caption.value for caption in app.caption)


#: What is said after a weight of the row that reads a word.
SECOND = " (when reading it)"


def listed(app: AppTest) -> list[str]:
    return [button.label for button in app.button if (button.key or "").startswith("linked-")]


def test_what_the_mask_forbids_is_said(app: AppTest) -> None:
    app.query_params.update({"site": DECODER, "token": "2", "key_token": "3", "words": "False"})
    app.run()
    assert not listed(app)
    assert any("the mask hides that token from every head" in caption.value for caption in app.caption)


@pytest.mark.parametrize("words", [True, False])
def test_tiles_carry_the_weight_of_the_kept_cell_and_its_heads_are_listed(
    app: AppTest, selection: Selection, words: bool
) -> None:
    app.query_params.update({"site": CROSS, "token": "2", "key_token": "3", "figure": "kept", "order": "highest"})
    app.query_params["words"] = str(words)
    app.run()
    ((header, _),) = sent_to(app, "head_grid")
    trace, view = traced(TEXT, selection), MatrixView("weights", whole_words=words, special_tokens=True)
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
def test_two_words_are_looked_for_in_every_attention_and_ranked(
    app: AppTest, selection: Selection, words: bool
) -> None:
    trace = traced(TEXT, selection)
    known = texts.words(trace)
    looking, looked_at = known.num_source, 1
    app.query_params.update({"from": str(looking), "to": str(looked_at), "site": CROSS, "figure": "kept"})
    app.query_params["words"] = str(words)
    app.run()
    view = MatrixView("weights", whole_words=True, special_tokens=True)
    layers = [attention.opened_layer(trace, models.reader(selection.model), CROSS, layer, view) for layer in range(2)]

    def weights(link: texts.Link, layer: int) -> list[float]:
        """Between words those of the open head: of the row that holds the last row of the word."""
        if not words:
            return [float(weight) for weight in texts.weights(trace, link)[layer]]
        row, column = layers[layer].queries.index_of(link.rows[-1]), layers[layer].keys.index_of(link.keys[0])
        return [float(weight) for weight in layers[layer].values[:, row, column]]

    expected = sorted(
        (
            (weight, f"{head_label(layer, head, CROSS)} · {weight:.4f}{SECOND if link.is_second_look else ''}")
            for link in texts.links(trace, (looking,), (looked_at,))
            for layer in range(2)
            for head, weight in enumerate(weights(link, layer))
        ),
        key=lambda one: -one[0],
    )
    assert listed(app) == [label for _, label in expected[:MOST]]
    link = texts.links(trace, (looking,), (looked_at,))[0]
    ((header, _),) = sent_to(app, "head_grid")
    assert header["metric"]["texts"] == [f"{weight:.2f}" for weight in texts.weights(trace, link).flat]
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
    app.segmented_control(key="site").set_value(ENCODER).run()
    rows = texts.links(traced(TEXT, selection), (1,), (2,))[0]
    assert app.query_params["token"] == str(rows.rows[0])
    assert (app.query_params["from"], app.query_params["to"]) == ("1", "2")


def test_no_attention_leads_from_the_text_to_its_translation(app: AppTest, selection: Selection) -> None:
    written = texts.words(traced(TEXT, selection)).num_source
    app.query_params.update({"from": "1", "to": str(written)})
    app.run()
    assert not listed(app)
    assert any("No attention leads from “animal” to" in caption.value for caption in app.caption)


def test_a_chosen_word_keeps_its_row_where_the_open_attention_has_one_and_its_key_where_not(
    app: AppTest, selection: Selection
) -> None:
    known = texts.words(traced(TEXT, selection))
    written = known.groups[known.num_source][0]
    animal = known.groups[1][0]
    # A row of cross-attention stands for the word that it writes, others for the one that they read.
    for site, word, kept in (
        (ENCODER, 1, (animal, None)),
        (DECODER, known.num_source, (written, None)),
        (CROSS, known.num_source, (written - 1, None)),
        (CROSS, 1, (None, animal)),
        (ENCODER, known.num_source, (None, None)),
    ):
        assert texts.cell_of_word(traced(TEXT, selection), site, word) == kept
    app.query_params.update({"from": "1", "token": str(animal), "site": ENCODER})
    app.run()
    ((picker, _),) = sent_to(app, "word_picker")
    ((question, _),) = sent_to(app, "link_question")
    assert picker["chosen"] == question["chosen"] == [[1], []]
    ((headline, _),) = sent_to(app, "headline")
    ((picture, _),) = sent_to(app, "matrix_picture")
    # The open head has a row for each word: that of the second.
    assert (headline["suggestion"], picture["kept"]) == ([], [1, None])


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
