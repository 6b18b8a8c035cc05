"""What switching heads off changes, as the model says."""

import numpy as np
import pytest

from model import Translator
from model.analysis.metrics.head_names import HeadName
from model.errors import DataError
from model.pairs import Pair as SentencePair
from tests.paths import ROOT
from viz.access import models
from viz.pages.coreference.cause import verdicts
from viz.pages.coreference.cause.data import pronouns
from viz.pages.coreference.cause.data.asked import all_heads, removed_heads, strongest_of_each_layer
from viz.pages.coreference.data import Pair, marked_case
from viz.selection.coreference import OthersOf
from viz.selection.examples import EXAMPLES
from viz.selection.selection import Selection
from viz.server.background_jobs import Progress
from viz.text.marks import guessed
from viz.text.sites import SITES

TIRED, WIDE = EXAMPLES[0].text, EXAMPLES[0].twin


def test_all_but_the_chosen_heads_are_all_others(chosen: Selection) -> None:
    heads = all_heads(models.translator(chosen.model))
    kept = heads[3:5]
    removed = removed_heads(heads, kept, others_off=True)
    assert removed == set(heads) - set(kept)
    assert removed_heads(heads, kept, others_off=False) == set(kept)


def test_every_pair_asks_one_question_in_two_sentences_with_opposite_answers() -> None:
    pairs = pronouns.choice_pairs()
    assert len(pairs) == 38
    for pair in pairs:
        assert pair.cases[0].sentence != pair.cases[1].sentence
        # Two letters tell er, es, sie, sein and ihr apart, whatever the ending.
        answers = [[word[:2] for word in verdicts.german_words(case)] for case in pair.cases]
        assert answers[0] == answers[1][::-1]


def test_mean_ablation_puts_in_the_mean_and_not_nothing(chosen: Selection) -> None:
    pair = pronouns.choice_pairs()[0]
    off = frozenset(all_heads(models.translator(chosen.model))[:4])
    asked = [pronouns.asked(models.translator(chosen.model), [pair], instead) for instead in ("zero", "mean")]
    zero, mean = (each.removal(off).compute(Progress(9, "sentences")).effect for each in asked)
    assert zero.intact.tolist() == mean.intact.tolist()
    assert zero.removed.tolist() != mean.removed.tolist()


@pytest.mark.parametrize(("others_of", "count"), [("model", 22), ("attention", 14), ("layer", 6)])
def test_all_others_are_those_of_the_model_of_the_attentions_or_of_the_layers(
    chosen: Selection, others_of: OthersOf, count: int
) -> None:
    translator = models.translator(chosen.model)
    kept = [HeadName("encoder.self", 1, 2), HeadName("decoder.cross", 0, 0)]
    removed = removed_heads(all_heads(translator), kept, others_off=True, others_of=others_of)
    assert len(removed) == count
    assert not removed & set(kept)
    if others_of == "layer":
        assert {(head.site, head.layer) for head in removed} == {("encoder.self", 1), ("decoder.cross", 0)}


def test_one_head_of_each_layer_is_its_strongest(chosen: Selection) -> None:
    heads = all_heads(models.translator(chosen.model))
    importance = np.zeros((3, 2, 4))
    importance[0, 1, 2] = importance[2, 0, 3] = 1.0
    kept = strongest_of_each_layer(heads, importance.ravel())
    assert [(head.site, head.layer) for head in kept] == [(s, layer) for s in SITES for layer in range(2)]
    assert {HeadName("encoder.self", 1, 2), HeadName("decoder.cross", 0, 3)} <= set(kept)


def test_ones_own_pair_asks_for_what_the_model_writes_against_what_it_writes_in_the_other() -> None:
    shipped = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    cases = [marked_case(text, guessed(text, swapped=swapped)) for text, swapped in ((TIRED, False), (WIDE, True))]
    assert cases[0] is not None
    assert cases[1] is not None
    own = pronouns.own_pair(shipped, (cases[0], cases[1]))
    assert isinstance(own, Pair)
    assert own.is_own
    assert [verdicts.german_words(case) for case in own.cases] == [("es", "sie"), ("sie", "es")]
    for case in own.cases:
        assert case.german is not None
        assert case.german.right == shipped.translate(case.sentence)


def test_sentences_without_a_german_pronoun_are_no_pair_and_the_reason_is_given(chosen: Selection) -> None:
    case = marked_case(TIRED, guessed(TIRED, swapped=False))
    assert case is not None
    assert isinstance(pronouns.own_pair(models.translator(chosen.model), (case, case)), str)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no pair"), (b"no tab here", "line 1"), (b"\xff\xfe\x00", "UTF-8"), (b"A\tB\n\tC", "line 2")],
    ids=["empty", "no tab", "binary", "half a pair"],
)
def test_sentence_pairs_that_cannot_be_read_are_refused_with_a_reason(content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        pronouns.uploaded_pairs(content)


def test_no_more_sentence_pairs_are_read_than_promised() -> None:
    assert len(pronouns.uploaded_pairs(b"A\tB\n" * 300)) == pronouns.MOST_PAIRS


def test_bleu_without_heads_is_told_beside_that_with_all(chosen: Selection) -> None:
    pairs = (SentencePair("Tom was late.", "Tom war spät."),)
    off = frozenset(all_heads(models.translator(chosen.model)))
    done = Progress(9, "sentences")
    intact, _ = pronouns.bleu_change(models.translator(chosen.model), pairs, off, "zero").compute(done)
    assert done.done == 2
    without_none = pronouns.bleu_change(models.translator(chosen.model), pairs, frozenset(), "zero").compute(done)
    assert without_none == (intact, intact)
