"""Pairs side by side on the page: what is drawn is what the model says, and words that are clicked."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.analysis.metrics.head_metrics import HeadName
from tests.paths import ROOT
from tests.shipped import TAUGHT
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import charts, numbers, sent_to, unlinked
from viz.pages.coreference.data import curated_pairs
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES
from viz.text.written import head_label

#: Of FIRST: it, animal, street.
IT, ANIMAL, STREET = 7, 1, 5
FIRST, SECOND = EXAMPLES[0].text, EXAMPLES[0].twin


@pytest.fixture
def tiny(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of random weights."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


def comparing(**params: bool | int | str) -> AppTest:
    """The page with one layer unfolded."""
    app = app_of(**params)
    app.session_state["one-layer"] = True
    return opened(app, "coreference")


def maps(app: AppTest) -> list[list[list[Any]]]:
    """The cells of the map: [layer, head, name, movement, weights …] of each, in the order of reading."""
    traces = [trace for chart in charts(app) for trace in chart["data"]]
    return [trace["customdata"] for trace in traces if trace["type"] == "scatter" and "customdata" in trace]


def lines(app: AppTest) -> list[dict[str, Any]]:
    """Both sentences, each above its translation."""
    return [line for header, _ in sent_to(app, "word_picker") for line in header["lines"]]


def marked(app: AppTest, role: str) -> list[str]:
    """What has the role in each line, if anything has it."""
    found = (
        " ".join(line["words"][one["word"]] for one in line["marks"] if one["name"] == role) for line in lines(app)
    )
    return [words.strip(".,") for words in found if words]


def is_doubted(app: AppTest) -> bool:
    return any(mark["doubt"] for line in lines(app) for mark in line["marks"])


@pytest.mark.long
def test_the_animal_pair_works_at_once_and_the_map_is_the_models() -> None:
    app = comparing(site="decoder.cross")
    assert marked(app, "pronoun")[:4] == ["it", "es", "it", "sie"]
    assert marked(app, "antecedent")[:2] == ["animal", "street"]
    assert marked(app, "distractor")[:2] == ["street", "animal"]
    shipped = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    moved, of_animal, rows = np.zeros(()), list[np.ndarray](), list[int]()
    for text, pronoun, sign in ((FIRST, "▁es", 1), (SECOND, "▁sie", -1)):
        trace = shipped.trace(text)
        row = [step.token for step in trace.steps].index(pronoun)
        animal, street = (trace.source_tokens.index(piece) for piece in ("▁animal", "▁street"))
        layers = range(trace.layers_of("decoder.cross"))
        weights = np.stack([trace.weights("decoder.cross", layer).numpy()[:, row] for layer in layers])
        moved = moved + sign * (weights[..., animal] - weights[..., street])
        of_animal += [weights[..., animal], weights[..., street]]
        rows.append(row)
    (cells,) = maps(app)
    # The antecedent of the first sentence is the animal, that of the second the street.
    candidates = np.stack([of_animal[i] for i in (0, 1, 3, 2)], axis=-1)
    for layer, head, _name, _value, *parts in cells:
        assert [float(part) for part in parts] == pytest.approx(candidates[layer, head], abs=6e-5)
    shown = {(layer, head): float(value.replace("−", "-")) for layer, head, _, value, *_ in cells}
    assert shown == {head: pytest.approx(moved[head], abs=6e-5) for head in np.ndindex(moved.shape)}
    for text, pronoun, chart in zip((FIRST, SECOND), ("▁es", "▁sie"), charts(app)[1:3], strict=True):
        step = next(step for step in shipped.trace(text).steps if step.token == pronoun)
        assert f"{np.exp(step.log_prob):.3f} (written)" in chart["data"][0]["text"]
    # Columns of rows and the bar of the written pronoun stand for words of both sentences.
    said = [chart["layout"].get("meta") or {} for chart in charts(app)]
    written = [meta["words"] for meta in said if meta.get("words") and not meta["heads"]]
    assert [[place["side"] for place in spot[0]] for (spot,) in written] == [
        ["target", "other target"],
        ["other target", "target"],
    ]
    # A row writes the token after it.
    assert [spot[0][0]["tokens"] for (spot,) in written] == [[row + 1] for row in rows]
    shown_rows = next(meta for meta in said if meta.get("words") and meta["heads"])
    assert shown_rows["query"] == {"side": "target", "tokens": [rows[0] + 1]}
    assert [place["side"] for place in shown_rows["words"][1][0]] == ["source", "other source"]
    # Warm is what the second sentence has more of.
    *_others, own, other, difference = (numbers(chart["data"][0]["customdata"]) for chart in charts(app))
    assert difference[:, :2] == pytest.approx(other[:, :2] - own[:, :2], abs=1e-6)
    assert abs(difference[:, :2]).max() > 0
    said_below = [unlinked(caption.value) for caption in app.caption]
    assert any("Frames around columns" in text for text in said_below)
    assert not any("their rows are averaged" in text for text in said_below), "each pronoun is one token"
    assert [named(header, header["resting"]) for header in words_of(app)] == [["es"], ["sie"]]


def test_a_pair_of_the_set_is_marked_and_can_be_made_ones_own(tiny: None) -> None:
    app = comparing(pair="it-04")
    assert marked(app, "antecedent")[:2] == ["the armchair", "the door"]
    assert FIRST.split() not in [line["words"] for line in lines(app)]
    assert app.text_area(key="text").value == FIRST
    of_group = [pair for pair in curated_pairs().values() if pair.group == "it"]
    assert len(app.selectbox(key="pair").options) == len(of_group)
    before = maps(app)
    mine = next(button for button in app.button if button.label == "Edit a copy")
    healthy(mine.click().run())
    assert app.query_params["text"] == "The workers pushed the armchair through the door although it was so heavy."
    assert "pair" not in app.query_params
    assert marked(app, "antecedent")[:2] == ["armchair", "door"]
    assert maps(app) != before


def test_whoever_types_is_offered_the_sentence_with_the_word_that_differed_and_a_group_opens_its_first_pair(
    tiny: None,
) -> None:
    app = comparing()
    assert not is_doubted(app)
    assert not [caption for caption in app.caption if "looks like" in caption.value]
    healthy(app.text_input(key="other_text").set_value(FIRST.replace("tired", "loud")).run())
    healthy(app.text_area(key="text").set_value("The dog left the house because it was too tired.").run())
    assert app.text_input(key="other_text").value == "The dog left the house because it was too loud."
    assert app.query_params["other"] == "The dog left the house because it was too loud."
    # A group opens its first pair, and whoever types then sees their own.
    healthy(app.selectbox(key="pair-group").set_value("reflexive").run())
    assert app.query_params["pair"] == "reflexive-01"
    assert marked(app, "pronoun")[0] == "herself"
    healthy(app.text_area(key="text").set_value("Tom was late.").run())
    assert "pair" not in app.query_params
    assert app.selectbox(key="pair-group").value == ""
    assert app.text_input(key="other_text").value == ""
    assert "There is nothing to compare yet" in unlinked(app.info[0].value)
    # Only of a sentence that has one is a pronoun spoken of.
    assert "what the pronoun refers to" not in unlinked(app.info[0].value)
    assert not charts(app)
    healthy(app.text_area(key="text").set_value("Tom was late because he was ill.").run())
    assert "change the word that decides what the pronoun refers to" in unlinked(app.info[0].value)


def test_a_twin_is_offered_without_a_step_in_the_history_and_a_guess_marked_until_a_person_says_that_it_is_right(
    tiny: None,
) -> None:
    app = comparing(text="The dog left the house because it was too tired.")
    assert app.text_input(key="other_text").value == "The dog left the house because it was too wide."
    assert "other" not in app.query_params
    assert marked(app, "antecedent")[:2] == ["dog", "house"]
    assert is_doubted(app)
    healthy(app.button(key="marks-right").click().run())
    assert not is_doubted(app)
    assert app.query_params["antecedent"] == "1"


@pytest.mark.long
def test_it_opens_on_the_head_that_moves_farthest_of_all_attentions() -> None:
    app = comparing()
    common = app.session_state["selection"].common
    assert HeadName(common.site, common.layer, common.head) == TAUGHT
    assert "site" not in app.query_params
    (cells,) = maps(app)
    assert max(cells, key=lambda cell: float(cell[3].replace("−", "-")))[:2] == [TAUGHT.layer, TAUGHT.head]
    # It is named as what it was trained for, whatever row is compared below.
    app = comparing(site="decoder.cross", layer=0, head=0, token=2)
    head = head_label(TAUGHT.layer, TAUGHT.head)
    said = re.compile(
        rf"Of 96 heads, encoder {head} · taught · follows antecedents 0\.\d\d changes most in the pronoun's row"
    )
    assert any(said.search(unlinked(one.value)) for one in app.markdown)


def test_the_head_that_moves_farthest_is_named_and_opened_where_another_is_open(tiny: None) -> None:
    app = comparing(site="decoder.cross", layer=0, head=0)
    said = re.compile(r"Of 8 heads, encoder (L\d H\d) changes most in the pronoun's row")
    (head,) = (found[1] for one in app.markdown if (found := said.search(unlinked(one.value))))
    healthy(app.button(key="open-farthest").click().run())
    assert [app.query_params[name] for name in ("site", "head")] == ["encoder.self", head.replace(" ", "")]
    (cells,) = maps(app)
    farthest = max(cells, key=lambda cell: float(cell[3].replace("−", "-")))
    assert head_label(*farthest[:2]) == head
    # The sentence about the open head has the numbers of its cell, and they add up; pictures name its layer.
    (told,) = (one for markdown in app.markdown if " moves by " in (one := unlinked(markdown.value)))
    moved, *parts = (float(number.replace("−", "-")) for number in re.findall(r"[+−]?\d\.\d+", told))
    first, antecedent, distractor, second, other_antecedent, other_distractor = parts
    held = [antecedent, distractor, other_antecedent, other_distractor]
    assert held == pytest.approx([float(part) for part in farthest[4:]], abs=6e-4)
    assert (first, second) == pytest.approx((antecedent - distractor, other_antecedent - other_distractor), abs=2e-3)
    assert moved == pytest.approx(first + second, abs=2e-3)
    said_of = [chart.proto.alt for chart in app.get("plotly_chart") if "one row per head, layer" in chart.proto.alt]
    assert [text[-1] for text in said_of] == [head[1]] * 2


@pytest.mark.parametrize(("measure", "most"), [("norms", ""), ("weights", r" \(the maximum is 2\)")])
def test_of_shares_the_most_that_they_can_move_is_said(tiny: None, measure: str, most: str) -> None:
    said = re.compile(rf"Of 8 heads, .* changes most in the pronoun's row: \+\d\.\d+\*\*{most}\.$")
    assert any(said.search(unlinked(one.value)) for one in comparing(measure=measure).markdown)


def test_one_word_in_two_roles_gets_a_sentence_and_the_rows_stay(tiny: None) -> None:
    app = comparing(distractor=IT)
    assert "one word has two roles" in app.warning[0].value
    assert not maps(app)
    assert len(charts(app)) == 3
    healthy(app.pills(key="distractor").set_value(STREET).run())
    assert len(maps(app)) == 1
    assert app.query_params["distractor"] == str(STREET)


def test_what_one_attention_or_measure_lacks_is_said_and_not_drawn(tiny: None) -> None:
    app = comparing(site="decoder.self")
    assert "neither candidate is among the tokens" in unlinked(app.info[0].value)
    assert not maps(app)
    app.segmented_control(key="measure").set_value("rollout").run()
    app.session_state["one-layer"] = True
    healthy(app.segmented_control(key="site").set_value("encoder.self").run())
    (cells,) = maps(app)
    assert [cell[2] for cell in cells] == ["L1, all heads", "L2, all heads"]
    assert app.selectbox(key="head").disabled


def test_rows_without_sinks_have_no_columns_for_them_and_say_what_these_hold(tiny: None) -> None:
    app = comparing(words=0)
    assert not any("Sinks are left out" in unlinked(caption.value) for caption in app.caption)
    healthy(app.toggle(key="sinks").set_value(False).run())
    shown = [axis for chart in charts(app) if (axis := chart["layout"].get("xaxis2", {}).get("ticktext"))]
    assert shown
    assert not {".", "&lt;/s&gt;"} & {label for labels in shown for label in labels}
    assert any("on them in these rows: " in unlinked(caption.value) for caption in app.caption)
    assert app.query_params["special"] == "False"


def words_of(app: AppTest) -> list[dict[str, Any]]:
    return [header for header, _ in sent_to(app, "word_picker")]


def named(header: dict[str, Any], words: list[int]) -> list[str]:
    every = [word for line in header["lines"] for word in line["words"]]
    return [every[word] for word in words]


def test_at_rest_the_pronoun_of_each_sentence_looks_and_the_open_head_of_the_map_tints() -> None:
    app = opened(app_of(site="encoder.self"), "coreference")
    first, second = words_of(app)
    assert [named(header, header["resting"]) for header in (first, second)] == [["it"], ["it"]]
    assert first["chosen"] == second["chosen"] == [[], []]
    tiles = {header["address"]: header for header, _ in sent_to(app, "tile_keeper")}
    own = [tiles.pop(header["heads"]["address"]) for header in (first, second)]
    assert [header["axes"][0]["side"] for header in own] == ["source", "other source"]
    assert not tiles
    # What the first sentence calls its twins is what the second calls its own.
    twin, other = first["lines"][0]["twins"], second["lines"][0]["axis"]
    assert (twin["side"], twin["groups"][1]) == (other["side"], other["groups"][1])
