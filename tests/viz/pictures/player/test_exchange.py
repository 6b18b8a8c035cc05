"""A page that follows its player never sends it back, and one that asks for something else is obeyed."""

from dataclasses import dataclass

from viz.pictures.player.exchange import Command, Exchange, next_command


@dataclass(frozen=True)
class At:
    step: int


AT_0, AT_3, AT_5, AT_7 = (At(step) for step in (0, 3, 5, 7))
FIRST = Command(1, AT_0, "abc")


def test_a_new_player_goes_where_the_page_asks() -> None:
    assert next_command(None, AT_5, None, "abc") == Command(1, AT_5, "abc")


def test_a_page_that_follows_the_player_never_sends_it_back() -> None:
    # The page still asks for 0, where it sent the player; then for 5, which was reported one run before 7.
    assert next_command(Exchange(FIRST, AT_0, None), AT_0, AT_5, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_0, AT_5), AT_5, AT_7, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, AT_7, "abc") == FIRST


def test_a_page_that_asks_for_something_else_is_obeyed() -> None:
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_3, AT_7, "abc") == Command(2, AT_3, "abc")


def test_another_decoding_starts_where_the_page_asks() -> None:
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, None, "xyz") == Command(2, AT_7, "xyz")


def test_a_player_that_was_left_out_for_a_run_starts_where_the_page_asks() -> None:
    assert next_command(Exchange(FIRST, None, None), AT_5, None, "abc") == Command(2, AT_5, "abc")


def test_only_what_was_reported_after_a_command_answers_it() -> None:
    assert FIRST.packed() == {"number": 1, "step": 0}
    assert FIRST.is_answered_by({"digest": "abc", "command": 1, "step": 2})
    wrong: tuple[object, ...] = ({"digest": "abc", "command": 2}, {"digest": "abd", "command": 1}, {}, None, [])
    assert not any(map(FIRST.is_answered_by, wrong))
