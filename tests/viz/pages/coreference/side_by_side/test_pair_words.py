"""The words of both sentences: their twins, their heads, and what a click on one makes of the page."""

from typing import Any

from streamlit.testing.v1 import AppTest

from model import Translator
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.sent import charts, sent_to
from viz.pages.coreference.pair_words import twins
from viz.selection.examples import EXAMPLES

FIRST, SECOND = EXAMPLES[0].text, EXAMPLES[0].twin


def words_of(app: AppTest) -> list[dict[str, Any]]:
    return [header for header, _ in sent_to(app, "word_picker")]


def named(header: dict[str, Any], words: list[int]) -> list[str]:
    every = [word for line in header["lines"] for word in line["words"]]
    return [every[word] for word in words]


def test_twins_are_equal_words_and_those_that_stand_in_their_place() -> None:
    shipped = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    first, second = shipped.trace(FIRST), shipped.trace(SECOND)
    found = twins(first, second)
    own, other = ([*text.split(), *trace.translation.split()] for text, trace in ((FIRST, first), (SECOND, second)))
    pairs = {own[word]: other[twin] for word, twin in found.items()}
    assert (pairs["it"], pairs["tired."], pairs["es"]) == ("it", "wide.", "sie")


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


def test_a_word_chosen_on_another_page_is_the_query_here_and_its_twin_in_the_other_sentence() -> None:
    app = opened(app_of(**{"site": "encoder.self", "from": "1"}), "coreference")
    assert [named(header, header["chosen"][0]) for header in words_of(app)] == [["animal"], ["animal"]]
    assert [app.selectbox(key=field).value for field in ("token", "other_token")] == [1, 1]
    # Rows are those of the word, and say so to whoever points at them.
    asked = [chart["layout"]["meta"]["query"] for chart in charts(app) if chart["layout"].get("meta", {}).get("query")]
    assert [(place["side"], place["tokens"]) for place in asked[:2]] == [("source", [1]), ("other source", [1])]


def test_columns_of_rows_and_the_bar_of_the_written_pronoun_stand_for_words_of_both_sentences() -> None:
    app = healthy(opened(app_of(site="decoder.cross"), "coreference"))
    said = [chart["layout"].get("meta") or {} for chart in charts(app)]
    written = [meta["words"] for meta in said if meta.get("words") and not meta["heads"]]
    assert [[place["side"] for place in spot[0]] for (spot,) in written] == [
        ["target", "other target"],
        ["other target", "target"],
    ]
    rows = next(meta for meta in said if meta.get("words") and meta["heads"])
    assert rows["query"]["side"] == "target"
    assert [place["side"] for place in rows["words"][1][0]] == ["source", "other source"]
