"""Words of two texts compared."""

from model.analysis.word_diff import WordSpan, word_diff


def test_words_are_compared_in_reading_order() -> None:
    assert word_diff("Die Katze schläft heute .", "Eine Katze schläft .") == (
        WordSpan(("Die",), ("Eine",)),
        WordSpan(("Katze", "schläft"), ("Katze", "schläft")),
        WordSpan(("heute",), ()),
        WordSpan((".",), (".",)),
    )
    assert word_diff("", "neu") == (WordSpan((), ("neu",)),)
    assert word_diff("", " ") == ()
