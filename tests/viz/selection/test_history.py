"""Choices undone and done again."""

from viz.selection.history import MAX_CHOICES, MAX_SENTENCES, SECONDS, History, remembered
from viz.selection.selection import Selection

START = Selection()


def of(*heads: int) -> History:
    """A session in which these heads were opened, one after the other."""
    history = History.begun(START, "attention")
    for number, head in enumerate(heads, 1):
        history = history.noted(START.changed(head=head), "attention", number * 10.0)
    return history


def test_undo_gives_the_choice_before_and_redo_the_one_after() -> None:
    history = of(2, 5)
    assert history.moved(-1).now.selection.common.head == 2
    assert history.moved(-2).now.selection == START
    assert history.moved(-2).moved(1).now.selection.common.head == 2
    assert history.moved(-9).at == 0
    assert history.moved(9) == history


def test_a_choice_after_an_undo_forgets_what_was_undone() -> None:
    history = of(2, 5).moved(-1).noted(START.changed(head=7), "attention", 99.0)
    assert [choice.selection.common.head for choice in history.choices] == [0, 2, 7]


def test_what_a_page_proposes_is_no_choice() -> None:
    history = of(2)
    chosen = history.now.selection
    assert history.noted(chosen.proposed(step=7), "decode", 99.0) == history
    assert history.noted(chosen.changed(presented="1", screen=2), "attention", 99.0) == history


def test_what_a_page_corrects_when_it_opens_comes_with_the_choice_before() -> None:
    history = of(2).absorbed(START.changed(head=2, lesson="look-up"))
    assert len(history.choices) == 2
    assert history.now.selection.learn.lesson == "look-up"


def test_a_slider_that_moves_is_one_choice_and_heads_clicked_as_fast_are_several() -> None:
    slid = History.begun(START, "")
    for number in range(5):
        slid = slid.noted(START.changed(threshold=10 + number), "", 5 + number * SECONDS / 2)
    assert slid.now.selection.attention.threshold == 14
    assert slid.moved(-1).now.selection == START
    later = slid.noted(START.changed(threshold=90), "", 99.0)
    assert later.moved(-1).now.selection.attention.threshold == 14
    clicked = History.begun(START, "")
    for head in (1, 2, 3):
        clicked = clicked.noted(START.changed(head=head), "", 5 + head * SECONDS / 9)
    assert clicked.moved(-1).now.selection.common.head == 2


def test_the_page_is_that_of_the_choice_which_is_undone_or_done_again() -> None:
    history = of(2).noted(START.changed(head=2, beam_size=7), "decode", 99.0)
    undone = history.moved(-1)
    assert undone.page_from(history) == "decode"
    assert undone.moved(-1).page_from(undone) == "attention"
    assert undone.moved(1).page_from(undone) == "decode"


def test_the_history_is_bounded() -> None:
    history = of(*range(1, MAX_CHOICES + 20))
    assert len(history.choices) == MAX_CHOICES
    assert history.now.selection.common.head == MAX_CHOICES + 19


def test_sentences_are_remembered_once_the_newest_first() -> None:
    sentences: tuple[str, ...] = ()
    for text in ("a", "b", " ", "a"):
        sentences = remembered(sentences, text)
    assert sentences == ("a", "b")
    for number in range(MAX_SENTENCES + 5):
        sentences = remembered(sentences, str(number))
    assert len(sentences) == MAX_SENTENCES
    assert sentences[0] == str(MAX_SENTENCES + 4)
