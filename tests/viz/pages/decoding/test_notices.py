"""What the page says that could not be done."""

from model.errors import SessionError
from viz.pages.decoding import notices
from viz.text.messages import shown as said_now
from viz.text.messages import speaking


def test_a_branch_that_is_not_there_is_named_with_how_many_there_are() -> None:
    assert notices.no_branch(3, 2).startswith("The URL names branch 3, but there are 2.")
    assert notices.no_branch(3, 0).startswith("The URL names branch 3, but there are no branches.")


def test_steps_count_from_1() -> None:
    assert notices.no_step(20, 15).startswith("The URL names step 21, but this translation has 15.")
    assert notices.written_already(4).startswith("This translation already has that token at step 5.")


def test_why_a_branch_is_left_out_is_said_in_the_language_of_whoever_reads_it() -> None:
    error = SessionError("The URL names an unknown branch, “{code}”.", code="x")
    notice = notices.left_out("0-5-t1", error)
    assert notice.endswith(str(error))
    with speaking("zh"):
        assert notices.left_out("0-5-t1", error).values["error"] is error
        assert "0-5-t1" in said_now(notice)
