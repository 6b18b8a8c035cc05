"""The tab of branches: the tree, two branches compared, a word of one's own, removal."""

from collections.abc import Sequence
from functools import partial
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from torch import nn

from model.errors import TokenError
from tests.viz.page_run import app_of, healthy, opened
from tests.viz.pages.decoding.viewer import Viewer
from tests.viz.sent import caught, charts, sent_to, unlinked, unpack
from viz.access import models
from viz.pages.decoding import translations
from viz.pages.decoding.branches import tab
from viz.pages.decoding.branches.tab import BranchRow, BranchTree, TreeAct, branch_tree
from viz.pages.decoding.data import branches
from viz.pages.decoding.data.searches import most_changed_head
from viz.pictures.figures.heads import align
from viz.pictures.payload import pack
from viz.selection import state
from viz.selection.branch_codes import EditHead
from viz.selection.selection import Selection
from viz.text.written import display_token

TEXT = "Tom was late again."


def decoding(tab: str = "Branches", **params: str) -> AppTest:
    return opened(app_of(**{"text": TEXT, "studio": tab, **params}), "decoding")


TWO = "0-4-t40.1-6-t41"


def tree(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "branch_tree")
    return header


def test_the_tree_tells_what_was_done_where_and_what_came_of_it() -> None:
    app = decoding(branches=TWO, branch="2")
    found = tree(app)
    assert [row["number"] for row in found["rows"]] == [0, 1, 2]
    assert [row["parent"] for row in found["rows"]] == [None, 0, 1]
    assert [row["start"] for row in found["rows"]] == [0, 4, 6]
    assert "wrote" in found["rows"][1]["deed"]
    assert (found["shown"], found["against"], found["textLanguage"]) == (2, 1, "de")
    assert all(row["logProb"] < 0 for row in found["rows"])
    # The page shows the translation of the branch.
    assert app.selectbox(key="branch").value == 2
    assert found["rows"][2]["words"] != found["rows"][1]["words"]
    # The list above walks from branch to branch.
    healthy(app.selectbox(key="branch").set_value(1).run())
    assert tree(app)["shown"] == 1
    assert (app.query_params["branch"], app.query_params["step"]) == ("1", "4")
    healthy(app.selectbox(key="branch").set_value(0).run())
    assert tree(app)["shown"] == 0


def test_a_long_branch_is_written_when_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translations, "MAX_UNASKED", 0)
    app = decoding(branches="0-4-t50.0-6-t51.0-5-t52")
    rows = tree(app)["rows"]
    assert [row["isWritten"] for row in sorted(rows, key=lambda row: row["number"])] == [True, False, False, False]
    assert all(row["length"] == row["start"] + 1 for row in rows if not row["isWritten"])
    rows = tree(healthy(app.selectbox(key="branch").set_value(2).run()))["rows"]
    written = {row["number"]: row["isWritten"] for row in rows}
    assert written == {0: True, 1: False, 2: True, 3: False}


def test_a_word_is_written_at_the_chosen_step() -> None:
    app = decoding(step="3")
    assert "“\\<\\/s\\>” ends the text." in app.text_input(key="write-in-film").help
    # One that cannot be is answered, and stays to be put right.
    for word, said in (("猫", "cannot spell"), ("<s>", "special"), ("x" * 300, "300 characters")):
        healthy(app.text_input(key="write-in-film").set_value(word).run())
        assert said in unlinked(app.info[0].value)
        assert app.text_input(key="write-in-film").value == word
        assert "branches" not in app.query_params
    healthy(app.text_input(key="write-in-film").set_value("Tier").run())
    ids = branches.spell("Tier", models.writer(Selection().changed(checkpoint="en-de").model))
    assert app.query_params["branches"] == "0-3-" + "-".join(f"t{one}" for one in ids)
    assert tree(app)["shown"] == 1
    assert app.text_input(key="write-in-film").value == ""


def test_two_branches_are_compared_by_text_probability_and_attention() -> None:
    app = decoding(branches=TWO, branch="2", site="decoder.cross", layer="1", head="2")
    curves = charts(app)[0]
    assert [curve["name"] for curve in curves["data"]] == ["Branch 1", "Branch 2"]
    assert curves["data"][0]["y"][:6] == pytest.approx(curves["data"][1]["y"][:6])
    assert app.selectbox(key="compared_branch").options == ["The model’s own", "Branch 1"]
    healthy(app.selectbox(key="compared_branch").set_value(0).run())
    assert charts(app)[0]["data"][0]["name"] == "The model’s own"
    assert app.query_params["against"] == "0"


def test_the_attention_of_an_edited_head_differs_and_the_encoders_is_the_same() -> None:
    edited = {"branches": "0-2-off-c-1-2", "branch": "1", "layer": "1", "head": "2"}
    app = decoding(**edited, site="decoder.cross")
    _, difference = charts(app)
    assert difference["layout"]["yaxis"]["ticktext"][0].startswith("&lt;s&gt; → ")
    assert "warm if the weight is larger in *Branch 1*" in " ".join(unlinked(caption.value) for caption in app.caption)
    app = decoding(**edited, site="encoder.self")
    assert len(charts(app)) == 1
    assert "Both read the same encoded sentence" in unlinked(app.info[-1].value)


def test_without_branches_the_best_token_that_is_another_word_is_offered() -> None:
    app = decoding(step="3")
    app.session_state["film-branches-False"] = True
    healthy(app.run())
    writer = models.writer(Selection().changed(checkpoint="en-de").model)
    written, *others = branches.grow(branches.Sessions(), writer, TEXT, ()).steps[3].candidates
    rival = next(each for each in others if each.token.casefold() != written.token.casefold())
    assert display_token(rival.token) in app.subheader[0].value.replace("\\", "")
    curves = charts(app)[0]
    names = [unescape(curve["name"]) for curve in curves["data"]]
    assert names == ["The model’s own", f"With “{display_token(rival.token)}”"]
    healthy(app.button(key="keep-offer").click().run())
    assert app.query_params["branches"] == f"0-3-t{rival.token_id}"
    assert tree(app)["shown"] == 1


def test_no_head_changes_more_than_the_one_that_is_open() -> None:
    path = ((2, EditHead("uniform", "decoder.cross", 1, 2)),)
    selection = Selection().changed(checkpoint="en-de")
    writer = models.writer(selection.model)
    own, other = (branches.grow(branches.Sessions(), writer, TEXT, each) for each in ((), path))

    def change(site: str, layer: int, head: int) -> float:
        first, second = (trace.weights(site, layer, [head])[0].numpy() for trace in (own, other))
        both = [align(own.axis_tokens(site)[side], other.axis_tokens(site)[side]) for side in (0, 1)]
        rows, columns = (list(zip(each.first, each.second, strict=True)) for each in both)
        return max(abs(first[a, c] - second[b, d]) for a, b in rows for c, d in columns)

    found = most_changed_head(own, other)
    assert found is not None
    heads = [(site, layer, head) for site in own.sites for layer, head in np.ndindex(*own.shapes[site])]
    assert change(*found) == pytest.approx(max(change(*each) for each in heads))


def row(number: int, parent: int | None, start: int, name: str = "") -> BranchRow:
    return BranchRow(number, parent, start, 10, name, "", (), -1.0)


def tree_of(rows: Sequence[BranchRow]) -> BranchTree:
    return BranchTree(branches=rows, shown=0, against=None, step=0, name="x")


@pytest.mark.parametrize(
    "value",
    [
        None, "show", {}, {"what": "show"}, {"what": "show", "branch": 3}, {"what": "show", "branch": -1},
        {"what": "show", "branch": True}, {"what": "show", "branch": "1"}, {"what": "remove", "branch": 0},
        {"what": "drop", "branch": 1}, {"what": ["show"], "branch": 1},
    ],
)  # fmt: skip
def test_what_no_row_can_send_is_ignored(monkeypatch: pytest.MonkeyPatch, value: object) -> None:
    shown, acts = caught(monkeypatch), list[TreeAct]()
    rows = [row(0, None, 0), row(1, 0, 2), row(2, 0, 7)]
    branch_tree(tree_of(rows), on_act=acts.append, key="tree")
    shown[0].answers["act"](value)
    assert acts == []
    shown[0].answers["act"]({"what": "remove", "branch": 2})
    assert acts == [TreeAct("remove", 2)]


def test_a_branch_goes_with_its_children_and_undo_computes_nothing(rows_computed: list[nn.Module]) -> None:
    viewer = Viewer()
    for step, token_id in ((3, 40), (5, 41)):
        viewer.run(partial(translations.write, step, (token_id,)))
    before, ids = viewer.selection, viewer.ids
    viewer.run(lambda: tab.remove(1))
    assert (viewer.selection.decoding.branches, viewer.selection.decoding.branch) == ((), 0)
    # Where it left the model's own, that has a step.
    assert viewer.selection.common.step == 3
    assert viewer.notices[0].startswith("Removed: branch 1 and 1 branch that started from it.")
    rows_computed.clear()
    viewer.run(lambda: state.undo(1))
    assert viewer.selection == before
    assert viewer.ids == ids
    assert rows_computed == []


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


def test_text_reaches_the_browser_with_every_control_made_visible() -> None:
    rows = [BranchRow(0, None, 0, 3, "own", "", (("a\u202eb \x07", True), (" c", False)), -1.0)]
    assert unpack(pack(tree_of(rows)))[0]["rows"][0]["words"] == [["a\\u202eb ␇", True], [" c", False]]
