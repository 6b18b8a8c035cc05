"""The sentences that a model is tried on."""

from viz.pages.model_card.tabs import BANK, NUM_DRAWN, draw


def test_the_bank_holds_no_sentence_twice_and_none_of_the_classics() -> None:
    assert len(BANK) == len(set(BANK)) == 120
    assert not any("animal" in sentence and "street" in sentence for sentence in BANK)
    assert all(sentence.strip() == sentence and sentence for sentence in BANK)


def test_a_seed_always_draws_the_same_twenty() -> None:
    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert len(set(draw(3))) == NUM_DRAWN == 20
