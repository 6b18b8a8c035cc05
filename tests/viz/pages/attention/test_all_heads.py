"""The grid of all heads on its page: metrics, orders and filters, and which heads link two words."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Trace
from tests.viz.page_run import traced
from tests.viz.sent import caught, sent_to
from viz.access import attention, models, texts
from viz.access.attention import MatrixView
from viz.access.texts import Link
from viz.pages.attention.all_heads import linked_heads
from viz.pages.attention.all_heads import tab as page
from viz.pages.attention.all_heads.linked_heads import MOST, Question
from viz.pages.attention.opened_head import captions, panel
from viz.pictures.focus import FocusAxis
from viz.selection import state
from viz.selection.choices import METRICS
from viz.selection.selection import Selection
from viz.text.written import CROSS, DECODER, ENCODER, SITES, head_label
from viz.ui import controls, finding, frame, present
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
    assert (app.query_params["token"], app.query_params["key_token"]) == (str(rows.rows[0]), str(rows.keys[0]))
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


@pytest.fixture
def held(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> list[Selection]:
    """The selections that the page had, the one that it has last; without a session."""
    stored = [selection]
    monkeypatch.setattr(state, "current", lambda: stored[-1])
    monkeypatch.setattr(state, "put", stored.append)
    return stored


def cell_of(held: list[Selection]) -> tuple[int | None, int | None]:
    return held[-1].common.token, held[-1].common.key_token


def trace_of(held: list[Selection]) -> Trace:
    """The text with a translation of several words."""
    return models.translator(held[0].model).trace(TEXT, "Das Tier war zu müde.")


def test_a_click_on_words_keeps_a_row_a_key_or_the_head_and_the_cell_that_link_them_most(held: list[Selection]) -> None:
    trace = trace_of(held)
    known = texts.words(trace)
    linked_heads.choose(trace, ((1,), ()))
    assert cell_of(held) == (known.groups[1][0], None)
    assert held[-1].common.head_chosen
    written = next(word for word in range(known.num_source, len(known.groups)) if len(known.groups[word]) > 1)
    held.append(held[-1].changed(whole_words=False))
    for looking, looked_at in (((1,), (0,)), ((written,), (1,)), ((1, 2), (4,))):
        linked_heads.choose(trace, (looking, looked_at))
        links = texts.links(trace, looking, looked_at)
        weights = {
            (link, layer, head): float(texts.weights(trace, link)[layer, head])
            for link in links for layer in range(2) for head in range(4)
        }  # fmt: skip
        link, layer, head = max(weights, key=lambda place: weights[place])
        common = held[-1].common
        assert (common.site, common.layer, common.head) == (link.site, layer, head)
        of_head = trace.weights(link.site, layer)[head].numpy()
        inside = of_head[np.ix_(link.rows, link.keys)]
        assert common.token in link.rows
        assert common.key_token in link.keys
        assert of_head[common.token, common.key_token] == pytest.approx(inside.max(), abs=1e-6)
        chosen = held[-1].attention
        assert (chosen.from_words, chosen.to_words, chosen.metric) == (looking, looked_at, "kept")
    linked_heads.choose(trace, ((), ()))
    assert (cell_of(held), held[-1].attention.from_words) == ((None, None), ())


def test_words_of_a_link_keep_their_cell_where_the_attention_has_them_and_nothing_else_is_kept(
    held: list[Selection],
) -> None:
    trace = trace_of(held)
    known = texts.words(trace)
    many = next(word for word in range(known.num_source) if len(known.groups[word]) > 1)
    chosen = held[0].changed(from_words=(many,), to_words=(many,))
    for site, given, kept in (
        (ENCODER, chosen, (known.groups[many][0],) * 2),
        (CROSS, chosen, (None, None)),
        (ENCODER, chosen.changed(to_words=()), (known.groups[many][0], None)),
        (ENCODER, chosen.changed(key_token=7), (None, 7)),
        (ENCODER, chosen.changed(from_words=(), to_words=()), (None, None)),
    ):
        held.append(given)
        linked_heads.begin(trace, site)
        assert cell_of(held) == kept, (site, kept)


def test_only_a_head_of_another_attention_draws_the_controls_again(held: list[Selection]) -> None:
    trace, drawn = trace_of(held), list[str]()
    for site in (ENCODER, CROSS, CROSS):
        linked_heads._press(trace, Link(site, ((1,),), (2,)), 1, 3, lambda site=site: drawn.append(site))  # type: ignore[misc]
        assert (held[-1].common.site, held[-1].common.layer, held[-1].common.head) == (site, 1, 3)
    assert drawn == [CROSS]


def test_tiles_carry_the_row_that_is_kept_or_else_the_first(held: list[Selection]) -> None:
    trace = trace_of(held)
    word = texts.words(trace).num_source + 1
    own, second = texts.links(trace, (word,), (1,))
    chosen = held[0].changed(from_words=(word,), to_words=(1,), site=CROSS, whole_words=False)
    for token, link in ((None, own), (own.rows[0], own), (second.rows[0], second)):
        held.append(chosen.changed(token=token))
        metric = linked_heads.tile_metric(trace, CROSS)
        assert metric is not None
        np.testing.assert_array_equal(metric.values, texts.weights(trace, link))
        assert ("in the row that reads it" in str(metric.note)) == (link is second)
    assert linked_heads.tile_metric(trace, ENCODER) is None


def test_a_row_that_is_kept_alone_marks_its_word_and_one_beyond_the_text_none(held: list[Selection]) -> None:
    trace = trace_of(held)
    queries, _ = trace.axis_tokens(ENCODER)
    known, last = texts.words(trace), len(queries) - 2  # the last but the end
    held.append(held[0].changed(token=last, site=ENCODER))
    assert linked_heads.marked(trace) == ((known.num_source - 1,), ())
    for change in ({"token": len(queries)}, {"token": len(queries) - 1}, {"token": 99, "key_token": 1}):
        held.append(held[0].changed(site=ENCODER, **change))
        assert linked_heads.marked(trace) == ((), ())
    # Neither does a cell of which one side is beyond it ask anything.
    for token, key in ((99, 1), (1, 99)):
        held.append(held[0].changed(site=ENCODER, token=token, key_token=key))
        assert linked_heads.tile_metric(trace, ENCODER) is None


def found(monkeypatch: pytest.MonkeyPatch, **link: Any) -> None:
    """What is most worth seeing is this link."""
    given = SimpleNamespace(pronoun="it", step=None, pronoun_row=0, **link)
    monkeypatch.setattr(finding, "of", lambda trace: SimpleNamespace(link=given))


def test_a_finding_of_a_decoder_looks_from_the_word_that_its_row_reads(
    held: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of(held)
    known = texts.words(trace)
    first, second = known.groups[known.num_source][0], known.groups[known.num_source + 1][0]
    found(monkeypatch, site=DECODER, row=second, key=first)
    assert linked_heads._found(trace) == ((known.num_source + 1,), (known.num_source,))
    # A row of cross-attention looks for the word that it writes.
    found(monkeypatch, site=CROSS, row=second - 1, key=known.groups[1][0])
    assert linked_heads._found(trace) == ((known.num_source + 1,), (1,))
    for kept in ({"token": 1}, {"key_token": 1}, {"head_chosen": True}):
        held.append(held[0].changed(**kept))
        assert linked_heads._found(trace) is None


def test_a_pronoun_is_looked_from_where_it_is_read_and_where_it_is_written(
    held: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = trace_of(held)
    monkeypatch.setattr(finding, "of", lambda trace: SimpleNamespace(link=SimpleNamespace(step=5, pronoun_row=3)))
    read, written = Link(ENCODER, ((1, 2, 3),), (7,)), Link(CROSS, ((3, 4, 5),), (7,))
    assert linked_heads._with_pronoun(trace, (read,)) == (read, Link(CROSS, ((5,),), (7,)))
    assert linked_heads._with_pronoun(trace, (written,)) == (written, Link(ENCODER, ((3,),), (7,)))
    # Of two words, or of another one, it is no pronoun.
    for other in (Link(ENCODER, ((2,), (3,)), (7,)), Link(ENCODER, ((3, 4),), (7,)), Link(DECODER, ((3,),), (7,))):
        assert linked_heads._with_pronoun(trace, (other,)) == (other,)


@pytest.mark.parametrize(
    ("words", "rows", "keys", "said"),
    [
        (((0,), (1,)), ((3,),), (5,), ""),
        (((0,), (1,)), ((3, 4),), (5,), "For a word of several tokens"),
        (((0,), (1,)), ((3,),), (5, 6), "For a word of several tokens"),
        (((0, 2), (1,)), ((3,), (4,)), (5,), "Of several words the weights are summed."),
        (((0,), (1, 2)), ((3,),), (5, 6), "Of several words the weights are summed."),
    ],
)
def test_how_weights_are_taken_together_is_said_where_they_are(
    held: list[Selection], monkeypatch: pytest.MonkeyPatch, words: Chosen, rows: Any, keys: Any, said: str
) -> None:
    monkeypatch.setattr(finding, "of", lambda trace: SimpleNamespace(link=SimpleNamespace(pronoun="it")))
    question, link = Question(words, ("a", "b"), ()), Link(ENCODER, rows, keys)
    trace: Any = None
    for whole_words in (True, False):
        held.append(held[0].changed(whole_words=whole_words))
        how = linked_heads._how(trace, question, [link])
        assert how.startswith(said) == (how != "" or not said)
        assert bool(how) == bool(said)
        assert ("one cell per token" in how) == (said.startswith("For") and not whole_words)
    both = linked_heads._how(trace, question, [link, Link(CROSS, rows, keys, is_second_look=True)])
    assert both.startswith("“it” attends where the encoder reads it")
    assert "“a” has two rows" in both


def test_why_no_head_links_two_words_is_said(held: list[Selection]) -> None:
    trace = trace_of(held)
    written = texts.words(trace).num_source
    told = [
        linked_heads._why_none(trace, Question(words, ("a", "b"), links))
        for words, links in (
            (((1,), (2,)), ()), (((written, 9), (written + 1,)), ()), (((1,), (written,)), ()), (((1,), (2,)), (LINK,))
        )
    ]  # fmt: skip
    assert ["no self-attention" in one for one in told] == [True, True, False, False]
    assert ["the text is read before" in one for one in told] == [False, False, True, False]
    assert "written later" in told[3]


LINK = Link(ENCODER, ((1,),), (2,))


def test_words_that_change_a_control_draw_the_controls_again_and_others_the_pictures_alone(
    held: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    monkeypatch.setattr(frame, "rerun", drawn.append)
    monkeypatch.setattr(present, "is_on", lambda: False)
    for change in ({"layer": 1}, {"site": CROSS}, {"metric": "kept"}, {"metric": "entropy"}, {"metric": "distance"}):
        monkeypatch.setattr(linked_heads, "choose", lambda trace, chosen, change=change: state.change(**change))
        page._choose(trace_of(held), ((), ()))
    assert drawn == [page._show_pictures, page.show, page.show, page.show, page._show_pictures]


def test_a_presentation_shows_the_grid_and_then_each_way_to_draw_the_open_head(
    held: list[Selection], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[tuple[str, ...]] = []
    counted: list[int] = []
    monkeypatch.setattr(controls, "fit_measure", lambda measures: None)
    monkeypatch.setattr(captions, "show_headline", lambda trace: None)
    monkeypatch.setattr(panel, "picture", lambda trace, site, drawn_as: drawn.append((drawn_as,)))
    monkeypatch.setattr(page, "draw", lambda trace, site, measure: drawn.append(("grid", measure)))
    monkeypatch.setattr(page, "send", lambda trace, site, measure: None)
    trace = trace_of(held)

    def steps(count: int, field: str) -> int:
        counted.append(count)
        return len(counted) - 1

    monkeypatch.setattr(present, "steps", steps)
    for _screen in range(3):
        page._show_presented(trace)
    assert drawn == [("grid", "weights"), ("Heatmap",), ("Heatmap",), ("Lines",)]
    assert counted == [3] * 3
