"""The tab of what can be taken along from the decoding page."""

from tests.viz.pages.decoding.branches.opening import decoding

TWO = "0-4-t40.1-6-t41"


def test_the_tab_offers_tables_trees_arrays_and_a_link_that_opens_here() -> None:
    app = decoding("Take it with you", branches=TWO, branch="2")
    names = [button.proto.label for button in app.get("download_button")]
    assert names == ["Steps and candidates", "NumPy arrays", "Branches", "Beam search"]
    link = app.code[0].value
    assert link.startswith("decode?checkpoint=en-de&text=Tom+was+late+again.")
    assert f"branches={TWO}" in link
