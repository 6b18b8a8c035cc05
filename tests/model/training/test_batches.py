"""Planning batches."""

from itertools import chain, islice

import pytest

from model.config import TransformerConfig
from model.errors import DataError
from model.pairs import Pair
from model.tokenizer import Tokenizer
from model.training.batches import Example, Processes, collate, encode_pairs, endless_batches, link_in, plan_epoch

EXAMPLES = [Example([5] * (i % 13 + 1), [6] * ((i * 7) % 11 + 1)) for i in range(300)]


def test_every_example_is_in_exactly_one_batch_of_an_epoch_and_no_batch_is_too_large() -> None:
    plan = plan_epoch(EXAMPLES, 60, seed=3, epoch=0)
    assert sorted(i for batch in plan for i in batch) == list(range(len(EXAMPLES)))
    for batch in plan:
        sides = [len(side) + 1 for i in batch for side in EXAMPLES[i][:2]]
        assert max(sides) * len(batch) <= 60


@pytest.mark.parametrize("examples", [[], [Example([5], [6], 0.0)]])
def test_no_example_at_all_is_said(config: TransformerConfig, examples: list[Example]) -> None:
    with pytest.raises(DataError, match="No sentence pair is left to train on"):
        next(endless_batches(examples, config, 60, seed=3))


@pytest.mark.parametrize("start", [0, 5, 200])
def test_starting_later_gives_the_batches_that_would_have_come(config: TransformerConfig, start: int) -> None:
    """Epoch after epoch, each planned anew and begun with its first batch."""
    plans = [plan_epoch(EXAMPLES, 60, seed=1, epoch=epoch) for epoch in range(6)]
    expected = [collate([EXAMPLES[i] for i in indices], config) for indices in chain(*plans)][start:]
    count = len(plans[0]) + len(plans[1])
    resumed = islice(endless_batches(EXAMPLES, config, 60, seed=1, start=start), count)
    for one, other in zip(expected[:count], resumed, strict=True):
        assert one.source.tolist() == other.source.tolist()
        assert one.target_out.tolist() == other.target_out.tolist()


def test_a_weight_says_how_often_an_example_comes_in_an_epoch() -> None:
    examples = [Example([5], [6], weight) for weight in (0.25, 1.0, 2.0, 2.5) for _ in range(400)]
    counts = [0] * len(examples)
    for batch in plan_epoch(examples, 60, seed=3, epoch=0):
        for index in batch:
            counts[index] += 1
    quarter, once, twice, more = (counts[start : start + 400] for start in range(0, 1600, 400))
    assert set(once) == {1}
    assert set(twice) == {2}
    assert set(quarter) == {0, 1}
    assert set(more) == {2, 3}
    assert sum(quarter) / 400 == pytest.approx(0.25, abs=0.08)
    assert sum(more) / 400 == pytest.approx(2.5, abs=0.08)


@pytest.mark.parametrize("count", [2, 3])
def test_the_processes_of_a_run_share_every_batch(config: TransformerConfig, count: int) -> None:
    whole = islice(endless_batches(EXAMPLES, config, 60, seed=1), 20)
    parts = [
        islice(endless_batches(EXAMPLES, config, 60, seed=1, processes=Processes(count, rank)), 20)
        for rank in range(count)
    ]
    for batch, *shared in zip(whole, *parts, strict=True):
        assert sum(own.share for own in shared) == pytest.approx(1)
        assert {own.num_tokens for own in shared} == {batch.num_tokens}
        rows = sorted(strip(row) for own in shared if own.share > 0 for row in own.source.tolist())
        assert rows == sorted(map(strip, batch.source.tolist()))
        for own in shared:
            own_tokens = int((own.target_out != config.pad_id).sum())
            all_tokens = int((batch.target_out != config.pad_id).sum())
            assert own.share in (0, pytest.approx(own_tokens / all_tokens))


def strip(row: list[int]) -> list[int]:
    return [token_id for token_id in row if token_id != 0]


def test_a_batch_shifts_the_target_by_one(config: TransformerConfig) -> None:
    batch = collate([Example([7, 8], [9, 10, 11]), Example([7], [9])], config)
    assert batch.source.tolist() == [[7, 8, 3], [7, 3, 0]]
    assert batch.target_in.tolist() == [[2, 9, 10, 11], [2, 9, 0, 0]]
    assert batch.target_out.tolist() == [[9, 10, 11, 3], [9, 3, 0, 0]]
    assert batch.num_tokens == 3 + 2 + 4 + 2


@pytest.mark.parametrize(
    ("source", "antecedent", "pronoun", "noun"),
    [
        ("The animal slept because it was tired.", "animal", "it", "animal"),
        ("It was the Dog of the river.", "dog", "It", "Dog"),
        ("The “Hippopotamus” saw it.", "hippopotamus", "it", "Hippopotamus"),
    ],
)
def test_a_link_names_the_tokens_of_the_pronoun_and_of_its_antecedent(
    tokenizer: Tokenizer, source: str, antecedent: str, pronoun: str, noun: str
) -> None:
    link = link_in(source, antecedent, tokenizer)
    assert link is not None
    token_ids = tokenizer.encode(source)
    assert tokenizer.decode(token_ids[link.begin : link.end]) == noun
    assert tokenizer.decode(token_ids[: link.pronoun + 1]).split()[-1] == pronoun


@pytest.mark.parametrize("source", ["It saw it by the river.", "It is here.", "The river saw the river; it ran."])
def test_what_it_stands_for_is_said_of_one_it_and_one_mention_alone(tokenizer: Tokenizer, source: str) -> None:
    assert link_in(source, "river", tokenizer) is None


def test_a_source_comes_in_other_pieces_too_and_counts_no_more_for_it(tokenizer: Tokenizer) -> None:
    pairs = [Pair("The animal didn't cross the street.", "Das Tier."), Pair("word " * 200, "Wort")]
    examples = encode_pairs(pairs, tokenizer, max_tokens=100, weight=2.0, cuts=7, seed=3)
    assert len(examples) == 8
    assert sum(example.weight for example in examples) == pytest.approx(2.0)
    assert examples[0].source == tokenizer.encode(pairs[0].source)
    assert {tokenizer.decode(example.source) for example in examples} == {pairs[0].source}
    assert {tuple(example.target) for example in examples} == {tuple(tokenizer.encode("Das Tier."))}
    assert len({tuple(example.source) for example in examples}) > 3
    assert encode_pairs(pairs, tokenizer, max_tokens=100, weight=2.0, cuts=7, seed=3) == examples
    assert encode_pairs(pairs, tokenizer, max_tokens=100, weight=2.0, cuts=7, seed=4) != examples
