"""The tab of branches and what can be taken along: the tree, two branches compared, a word of one's own, files."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from model.errors import TokenError
from tests.paths import ROOT
from tests.viz.reading import traced, tree_of
from tests.viz.sent import charts
from viz.access import models
from viz.core.html import word_changes
from viz.figures.comparison import align
from viz.pages.decoding.beam.data import beam_settings
from viz.pages.decoding.branch_codes import Choice, Write
from viz.pages.decoding.branches.component import BranchRow, TreeAct, in_order, pack_tree, read_act
from viz.pages.decoding.data import branches
from viz.pages.decoding.figures import Written, attention_difference, common_difference, probability_curves
from viz.pages.decoding.take_away import trees
from viz.selection import catalogue
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection

TEXT = "Tom was late again."
TWO = "0-4-t40.1-6-t41"


@pytest.fixture(autouse=True)
def checkpoints(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


def decoding(tab: str = "Branches", **params: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"text": TEXT, "studio": tab, **params}.items():
        app.query_params[name] = value
    app.run()
    return healthy(app.switch_page("viz/pages/decoding/page.py").run())


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def header(payload: bytes) -> dict[str, Any]:
    length = int.from_bytes(payload[:4], "little")
    return json.loads(payload[4 : 4 + length])


def tree(app: AppTest) -> dict[str, Any]:
    return next(found for found in map(header, payloads(app)) if "rows" in found and "shown" in found)


def payloads(app: AppTest) -> list[bytes]:
    return [element.proto.bytes for element in app.get("bidi_component")]


# ---- the tree ----


def test_the_tree_tells_what_was_done_where_and_what_came_of_it() -> None:
    found = tree(decoding(branches=TWO, branch="2"))
    assert [row["number"] for row in found["rows"]] == [0, 1, 2]
    assert [row["parent"] for row in found["rows"]] == [None, 0, 1]
    assert [row["start"] for row in found["rows"]] == [0, 4, 6]
    assert "wrote" in found["rows"][1]["deed"]
    assert (found["shown"], found["against"], found["language"]) == (2, 1, "de")
    assert all(row["logProb"] < 0 for row in found["rows"])


def test_the_page_shows_the_translation_of_the_branch() -> None:
    app = decoding(branches=TWO, branch="2")
    words = [text for text, _ in tree(app)["rows"][2]["words"]]
    assert app.selectbox(key="branch").value == 2
    translation = Translator.load(catalogue.checkpoint_root() / "en-de", device="cpu")
    session = translation.decode(TEXT)
    own = traced(TEXT, Selection().changed(checkpoint="en-de"))
    for step in own.steps[:4]:
        session.force(step.token_id)
    session.force(40)
    session.step()
    session.force(41)
    session.run()
    assert " ".join(words).split() == session.translation.split()


def test_the_list_above_walks_from_branch_to_branch() -> None:
    app = decoding(branches=TWO, branch="2")
    healthy(app.selectbox(key="branch").set_value(1).run())
    assert tree(app)["shown"] == 1
    assert (app.query_params["branch"], app.query_params["step"]) == ("1", "4")
    healthy(app.selectbox(key="branch").set_value(0).run())
    assert tree(app)["shown"] == 0


def row(number: int, parent: int | None, start: int, name: str = "") -> BranchRow:
    return BranchRow(number, parent, start, 10, name, "", (), -1.0)


def test_a_branch_stands_below_its_parent_and_late_ones_above_early_ones() -> None:
    rows = [row(0, None, 0), row(1, 0, 2), row(2, 0, 7), row(3, 1, 4)]
    assert [one.number for one in in_order(rows)] == [0, 2, 1, 3]


def test_text_reaches_the_browser_with_every_control_made_visible() -> None:
    rows = [BranchRow(0, None, 0, 3, "own", "", (("a\u202eb \x07", True),), -1.0)]
    assert header(pack_tree(rows, 0, None, 0, "x"))["rows"][0]["words"] == [["a\\u202eb ␇", True]]


def test_what_rules_forbid_reaches_the_browser_without_a_number() -> None:
    rows = [BranchRow(0, None, 0, 3, "own", "", (), -math.inf)]
    assert header(pack_tree(rows, 0, None, 0, "x"))["rows"][0]["logProb"] is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        "show",
        {},
        {"what": "show"},
        {"what": "show", "branch": 3},
        {"what": "show", "branch": -1},
        {"what": "show", "branch": True},
        {"what": "show", "branch": "1"},
        {"what": "remove", "branch": 0},
        {"what": "drop", "branch": 1},
        {"what": ["show"], "branch": 1},
    ],
)
def test_what_no_row_can_send_is_ignored(value: object) -> None:
    assert read_act(value, 3) is None


def test_what_a_row_sends_is_read() -> None:
    assert read_act({"what": "remove", "branch": 2}, 3) == TreeAct("remove", 2)


# ---- a word of one's own ----


def test_a_word_is_written_at_the_chosen_step() -> None:
    app = decoding(step="3")
    healthy(app.text_input(key="write-instead").set_value("Tier").run())
    ids = branches.spell("Tier", models.writer(Selection().changed(checkpoint="en-de").model))
    assert app.query_params["branches"] == "0-3-" + "-".join(f"t{one}" for one in ids)
    assert tree(app)["shown"] == 1
    assert app.text_input(key="write-instead").value == ""


@pytest.mark.parametrize(("word", "said"), [("猫", "cannot spell"), ("<s>", "own"), ("x" * 300, "300 characters")])
def test_a_word_that_cannot_be_written_is_answered_and_stays_to_be_put_right(word: str, said: str) -> None:
    app = decoding(step="3")
    healthy(app.text_input(key="write-instead").set_value(word).run())
    assert said in app.warning[0].value
    assert app.text_input(key="write-instead").value == word
    assert "branches" not in app.query_params


def test_the_field_says_how_to_end_the_text() -> None:
    assert "“\\<\\/s\\>” ends the text." in decoding().text_input(key="write-instead").help


def test_a_candidate_is_taken_from_the_list() -> None:
    app = decoding(step="3")
    own = traced(TEXT, Selection().changed(checkpoint="en-de"))
    healthy(app.menu_button(key="candidate").click_index(2).run())
    assert app.query_params["branches"] == f"0-3-t{own.steps[3].candidates[2].token_id}"


def spelt(word: str) -> tuple[str, ...]:
    selection = Selection().changed(checkpoint="en-de")
    return models.translator(selection.model).tokenizer.tokens(branches.spell(word, models.writer(selection.model)))


def test_words_are_spelt_as_words_and_marks_cling() -> None:
    assert spelt("Tom")[0].startswith("▁")
    assert "".join(spelt(" Das Tier ")) == "▁Das▁Tier"
    assert spelt(".") == (".",)
    assert spelt("</s>") == ("</s>",)
    piece = next(
        one
        for one in models.vocabulary(models.reader(Selection().changed(checkpoint="en-de").model))
        if len(one) > 3 and one[0] == "▁"
    )
    assert spelt(piece) == (piece,)


@pytest.mark.parametrize("word", ["", "  ", "<pad>", "<unk>", "😀", "שלום", "\u200b", "a b c d e f g h i j k l m n"])
def test_what_cannot_be_spelt_is_refused(word: str) -> None:
    with pytest.raises(TokenError):
        branches.spell(word, models.writer(Selection().changed(checkpoint="en-de").model))


# ---- compared ----


def test_two_branches_are_compared_by_text_probability_and_attention() -> None:
    app = decoding(branches=TWO, branch="2", site="decoder.cross", layer="1", head="2")
    curves = charts(app)[0]
    assert [curve["name"] for curve in curves["data"]] == ["Branch 1", "Branch 2"]
    assert curves["data"][0]["y"][:6] == pytest.approx(curves["data"][1]["y"][:6])
    healthy(app.selectbox(key="compared_branch").set_value(0).run())
    assert charts(app)[0]["data"][0]["name"] == "The model’s own"
    assert app.query_params["against"] == "0"


def test_the_attention_of_an_edited_head_differs_and_the_encoders_is_the_same() -> None:
    edited = {"branches": "0-2-off-c-1-2", "branch": "1", "layer": "1", "head": "2"}
    app = decoding(**edited, site="decoder.cross")
    _, difference = charts(app)
    assert difference["layout"]["yaxis"]["ticktext"][0] == "&lt;s&gt;"
    assert "warm where branch 1 gives more" in " ".join(caption.value for caption in app.caption)
    app = decoding(**edited, site="encoder.self")
    assert len(charts(app)) == 1
    assert "Both read the same encoded sentence" in app.info[-1].value


def test_without_branches_there_is_nothing_to_compare() -> None:
    app = decoding()
    assert charts(app) == []
    assert len(tree(app)["rows"]) == 1


def test_the_difference_is_taken_between_the_tokens_that_both_have() -> None:
    ours, theirs = np.arange(9.0).reshape(3, 3), np.ones((2, 3))
    rows, columns = align(["a", "b", "c"], ["a", "c"]), align(["x", "y", "z"], ["x", "y", "z"])
    found = common_difference(ours, theirs, rows, columns)
    np.testing.assert_array_equal(found, [[-1, 0, 1], [5, 6, 7]])
    figure = attention_difference(found, ["a", "c"], ["x", "y", "z"])
    np.testing.assert_array_equal(figure.data[0].customdata, found)


def test_curves_count_steps_from_one_and_draw_tokens_literally() -> None:
    one, other = Written("one", ("<b>a</b>", "b"), (0.5, 0.25)), Written("<i>", ("c",), (1.0,))
    figure = probability_curves(one, other, 1)
    assert [list(trace.x) for trace in figure.data] == [[1], [1, 2]]
    assert figure.data[1].customdata[0] == "&lt;b&gt;a&lt;/b&gt;"
    assert figure.data[0].name == "&lt;i&gt;"
    assert figure.layout.shapes[0].x0 == 1.5


def test_changes_of_words_are_marked_in_html_in_which_nothing_is_html() -> None:
    html = word_changes([(("a",), ("a",)), (("<img src=x>",), ("b",)), ((), ("c",))], names=("<b>", "two"))
    assert "<img" not in html
    assert html.count("</del>") == 2  # one in the text, one in the key
    assert html.count("</ins>") == 3
    assert ">a <del" in html
    assert 'lang=""' in html


# ---- to take along ----


def test_the_tab_offers_tables_trees_arrays_and_a_link_that_opens_here() -> None:
    app = decoding("Take it with you", branches=TWO, branch="2")
    names = [button.proto.label for button in app.get("download_button")]
    assert names == ["Steps and candidates", "NumPy arrays", "Branches", "Beam search"]
    link = app.code[0].value
    assert link.startswith("decode?checkpoint=en-de&text=Tom+was+late+again.")
    assert f"branches={TWO}" in link


def test_the_tree_of_branches_as_json_tells_how_each_came_about() -> None:
    selection, sessions = Selection().changed(checkpoint="en-de", text=TEXT), branches.Sessions()
    made = (Choice(0, 4, Write((40,))),)
    grown = [branches.grow(sessions, models.writer(selection.model), TEXT, path) for path in ((), ((4, Write((40,))),))]
    found = json.loads(trees.branches(made, grown, checkpoint="en-de", digest="d"))
    own, branch = found["branches"]
    assert (own["parent"], own["action"], own["translation"]) == (None, None, grown[0].translation)
    assert branch["action"] == {"kind": "write", "token_ids": [40]}
    assert (branch["parent"], branch["step"], branch["code"]) == (0, 4, "0-4-t40")
    assert branch["steps"][4]["token_id"] == 40
    assert branch["log_prob"] == pytest.approx(sum(step["log_prob"] for step in branch["steps"]))


def test_the_tree_of_the_beam_as_json_has_every_node() -> None:
    selection = Selection().changed(checkpoint="en-de", beam_size=99, length_penalty=99_999)
    assert beam_settings(selection.decoding) == (12, 5.0)
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", beam_size=3, length_penalty=100))
    found = json.loads(trees.beam(tree, TEXT, checkpoint="en-de", digest="d"))
    assert (found["width"], found["alpha"]) == (3, 1.0)
    assert [node["index"] for node in found["nodes"]] == list(range(len(tree.nodes)))
    assert found["nodes"][tree.winner.index]["fate"] == tree.winner.fate


def test_the_table_of_steps_is_that_of_the_branch() -> None:
    from viz.ui import trace_tables

    selection = Selection().changed(checkpoint="en-de", text=TEXT)
    trace = branches.grow(branches.Sessions(), models.writer(selection.model), TEXT, ((4, Write((40,))),))
    rows = list(csv.DictReader(io.StringIO(trace_tables.steps(trace).decode("utf-8-sig"))))
    assert rows[4]["token_id"] == "40"
    assert len(rows) == len(trace.steps)
