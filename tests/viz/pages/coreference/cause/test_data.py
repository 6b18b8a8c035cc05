"""What switching heads off changes, as the model says."""

import pytest

from model.errors import DataError
from model.pairs import Pair as SentencePair
from viz.access import models
from viz.core.background_jobs import Progress
from viz.pages.coreference.cause import data, tab
from viz.selection.selection import Selection


def test_all_but_the_chosen_heads_are_all_others(chosen: Selection) -> None:
    heads = data.all_heads(models.translator(chosen.model))
    kept = heads[3:5]
    removed = data.removed_heads(models.translator(chosen.model), kept, others_off=True)
    assert removed == set(heads) - set(kept)
    assert data.removed_heads(models.translator(chosen.model), kept, others_off=False) == set(kept)


def test_every_pair_asks_one_question_in_two_sentences_with_opposite_answers() -> None:
    pairs = data.choice_pairs()
    assert len(pairs) == 38
    for pair in pairs:
        assert pair.cases[0].sentence != pair.cases[1].sentence
        # Two letters tell er, es, sie, sein and ihr apart, whatever the ending.
        answers = [[word[:2] for word in tab._german_words(case)] for case in pair.cases]
        assert answers[0] == answers[1][::-1]


def test_mean_ablation_puts_in_the_mean_and_not_nothing(chosen: Selection) -> None:
    case = data.choice_pairs()[0].cases[0]
    off = frozenset(data.all_heads(models.translator(chosen.model))[:4])
    zero, mean = (
        data.removal(models.translator(chosen.model), [case], off, instead).compute(Progress(9, "sentences"))
        for instead in ("zero", "mean")
    )
    assert zero.intact == mean.intact
    assert zero.removed != mean.removed


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no pair"), (b"no tab here", "line 1"), (b"\xff\xfe\x00", "UTF-8"), (b"A\tB\n\tC", "line 2")],
    ids=["empty", "no tab", "binary", "half a pair"],
)
def test_sentence_pairs_that_cannot_be_read_are_refused_with_a_reason(content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        data.uploaded_pairs(content)


def test_no_more_sentence_pairs_are_read_than_promised() -> None:
    assert len(data.uploaded_pairs(b"A\tB\n" * 300)) == data.MOST_PAIRS


def test_bleu_without_heads_is_told_beside_that_with_all(chosen: Selection) -> None:
    pairs = (SentencePair("Tom was late.", "Tom war spät."),)
    off = frozenset(data.all_heads(models.translator(chosen.model)))
    done = Progress(9, "sentences")
    intact, _ = data.bleu_change(models.translator(chosen.model), pairs, off, "zero").compute(done)
    assert done.done == 2
    without_none = data.bleu_change(models.translator(chosen.model), pairs, frozenset(), "zero").compute(done)
    assert without_none == (intact, intact)
