"""What the Export menu offers on the decoding page."""

from tests.viz.page_run import healthy
from tests.viz.pages.decoding.branches.opening import decoding


def test_the_menu_offers_tables_arrays_and_trees() -> None:
    app = decoding(branches="0-4-t40.1-6-t41", branch="2")
    assert not [each for each in app.get("download_button") if "NumPy" in each.proto.label], "only while it is open"
    app.session_state["export"] = True
    names = [each.proto.label.partition(" (")[0] for each in healthy(app.run()).get("download_button")]
    assert names[:4] == ["Steps and candidates", "NumPy arrays", "Branches", "Beam search"]
