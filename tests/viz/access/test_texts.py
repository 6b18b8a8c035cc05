"""Rare words, twins of a sentence, and which rows and keys join two words."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from model import Translator
from model.tokenizer import SPECIAL_TOKENS, Tokenizer
from model.trace.trace import Trace
from tests.model.adapters import zoo
from tests.paths import ROOT
from viz.access import texts
from viz.access.texts import Link, RareWords, rare_words
from viz.pages.coreference.data import curated_pairs
from viz.selection.examples import EXAMPLES
from viz.text.written import CROSS, DECODER, ENCODER


@pytest.fixture(scope="module")
def shipped_tokenizer() -> Tokenizer:
    return Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")


def rare_in(text: str, shipped_tokenizer: Tokenizer) -> RareWords:
    ids = shipped_tokenizer.encode(text)
    are_bytes = [token_id in shipped_tokenizer.byte_ids for token_id in ids]
    return rare_words((*shipped_tokenizer.tokens(ids), "</s>"), (*are_bytes, False), SPECIAL_TOKENS)


@pytest.mark.parametrize("word", ["qzxvkj", "Pneumonoultramicroscopic", "naïveté😀", "猫"])
def test_a_word_in_many_pieces_in_letters_or_in_bytes_is_rare(shipped_tokenizer: Tokenizer, word: str) -> None:
    assert list(rare_in(f"The {word} sleeps.", shipped_tokenizer).pieces) == [word]


@pytest.mark.parametrize(
    ("text", "are_most"),
    [
        ("THE ANIMAL DIDN'T CROSS THE STREET BECAUSE IT WAS TOO TIRED.", True),
        ("#MondayMotivation 💪🔥 #NoPainNoGain @GymShark 😤😤 #fitfam", True),
        ("The 猫 猫 sleeps.", False),
        ("猫 猫 猫 sleeps.", True),
        ("The ANIMAL sleeps.", False),
        ("Calculate (3 + 4) = 7 | x #1 @home.", False),
    ],
)
def test_most_words_are_rare_where_more_than_half_are_each_time_they_occur(
    shipped_tokenizer: Tokenizer, text: str, are_most: bool
) -> None:
    rare = rare_in(text, shipped_tokenizer)
    assert rare.are_most is are_most
    assert rare.pieces


def test_a_word_is_rare_if_it_is_in_bytes_and_not_if_its_characters_are_pieces_or_are_typed_like_bytes() -> None:
    assert not rare_words(("▁图", "书", "馆", "</s>"), [False] * 4, SPECIAL_TOKENS).pieces
    typed, whole = ("▁", "<0xE5>", "</s>"), [False, True, False]
    assert rare_words(typed, whole, SPECIAL_TOKENS).are_most
    assert not rare_words(typed, [False] * 3, SPECIAL_TOKENS).pieces


@pytest.mark.parametrize("text", [*(one.text for one in EXAMPLES[:8]), "It's 2,048.50 euros, isn't it?", "A; b c."])
def test_no_everyday_word_number_or_letter_is_rare(shipped_tokenizer: Tokenizer, text: str) -> None:
    assert not rare_in(text, shipped_tokenizer).pieces


@pytest.mark.parametrize(
    ("pieces", "is_rare"),
    [
        (("▁long", "pie", "ces", "of"), False),
        (("▁long", "pie", "ces", "of", "it"), True),
        (("▁ab", "cd", "ef"), False),
        (("▁ab", "cd", "e"), True),
        (("▁a", "b"), False),
    ],
)
def test_a_word_is_rare_from_five_pieces_on_or_from_three_of_fewer_than_two_letters_each(
    pieces: tuple[str, ...], is_rare: bool
) -> None:
    found = rare_words((*pieces, "</s>"), [False] * (len(pieces) + 1), SPECIAL_TOKENS).pieces
    assert found == ({"".join(pieces).removeprefix("▁"): len(pieces)} if is_rare else {})
    assert rare_words(("▁a", "Ã©", "</s>"), [False, True, False], SPECIAL_TOKENS).pieces == {"aÃ©": 2}


CHANGE = (("tired",), ("wide",))


def test_examples_and_pairs_of_the_set_know_their_twins_both_ways() -> None:
    a, b = curated_pairs()["it-04"].texts
    for first, second in ((EXAMPLES[1].text, EXAMPLES[1].twin), (a, b)):
        assert texts.known_twin(first) == second
        assert texts.known_twin(second) == first
    assert texts.known_twin("Tom was late.") == ""


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        (EXAMPLES[0].text, EXAMPLES[0].twin, CHANGE),
        ("It was too tired.", "It was far too wide.", (("too", "tired"), ("far", "too", "wide"))),
        ("It ran.", "It ran.", None),
        ("It ran so.", "It slept.", (("ran", "so"), ("slept",))),
        (
            "It saw a very old dog.",
            "It met my quite new dog.",
            (("saw", "a", "very", "old"), ("met", "my", "quite", "new")),
        ),
        ("It saw a very old dog.", "He met my quite new dog.", None),
        ("a b c d e f g h", "a x c d e f y h", None),
        ("Tom saw a very old dog today.", "Everything else is new.", None),
        ("", "It ran.", None),
    ],
)
def test_the_words_that_differ_are_found(first: str, second: str, how: texts.Change | None) -> None:
    assert texts.change(first, second) == how


def test_the_same_words_are_changed_in_another_sentence_once_or_not_at_all() -> None:
    assert texts.changed("The dog was tired, it slept.", CHANGE) == "The dog was wide, it slept."
    assert texts.changed("The dog slept.", CHANGE) == ""
    assert texts.changed("A tired dog and a tired cat.", CHANGE) == ""
    assert texts.changed("Was it too tired?", (("too", "tired"), ("far", "too", "wide"))) == "Was it far too wide?"
    assert texts.changed("Tom ran.", (("Tom",), ("She",))) == "She ran."
    assert texts.changed("他很累。", (("累",), ("高", "大"))) == "他很高大。"
    assert texts.shared_words(EXAMPLES[0].text, EXAMPLES[0].twin) == (10, 11)
    shared, count = texts.shared_words("Tom was late.", EXAMPLES[0].twin)
    assert shared * 2 < count
    for longer in (("Tom was late.", "tom was very late today"), ("Tom was very late today.", "Tom was late")):
        assert texts.shared_words(*longer) == (3, 5)


@pytest.fixture(scope="module")
def trace(translator: Translator) -> Trace:
    return translator.trace("The dog was tired.", "Der Hund war müde.")


def word(trace: Trace, label: str) -> int:
    return texts.words(trace).labels.index(label)


def spelled(tokens: tuple[str, ...], positions: tuple[int, ...]) -> str:
    return "".join(tokens[position] for position in positions).removeprefix("▁")


def test_words_are_those_of_both_sentences_without_special_tokens(trace: Trace) -> None:
    known = texts.words(trace)
    assert known.labels == ("The", "dog", "was", "tired.", "Der", "Hund", "war", "müde.")
    assert known.num_source == 4
    sides = [trace.source_tokens] * 4 + [trace.target_tokens] * 4
    assert [spelled(*of) for of in zip(sides, known.groups, strict=True)] == list(known.labels)


def test_words_are_as_typed_where_the_model_has_as_many(trace: Trace) -> None:
    known = texts.words(trace)
    typed = texts.as_typed(replace(trace, source=replace(trace.source, text="Ein  Hund war da!")))
    assert typed.labels == ("Ein", "Hund", "war", "da!", *known.labels[4:])
    assert texts.as_typed(replace(trace, source=replace(trace.source, text="Ein Hund!"))) == known


def linked(trace: Trace, looking: Sequence[int], looked_at: Sequence[int]) -> Link:
    link = texts.link(trace, looking, looked_at)
    assert link is not None
    return link


def test_of_pieces_keys_are_summed_and_queries_averaged_and_several_words_summed(trace: Trace) -> None:
    link = linked(trace, (word(trace, "tired."),), (word(trace, "dog"),))
    assert min(len(link.rows), len(link.keys)) > 1
    expected = [
        [trace.weights(ENCODER, layer)[head][list(link.rows)][:, list(link.keys)].numpy().sum(1).mean() for head in of]
        for layer, of in enumerate([range(trace.heads_of(ENCODER))] * trace.layers_of(ENCODER))
    ]
    np.testing.assert_allclose(texts.weights(trace, link), expected, rtol=1e-5)
    looking, looked_at = [word(trace, label) for label in ("was", "tired.")], [word(trace, "The"), word(trace, "dog")]
    together = linked(trace, looking, looked_at)
    sums = sum(texts.weights(trace, linked(trace, (row,), (key,))) for row in looking for key in looked_at)
    np.testing.assert_allclose(texts.weights(trace, together), sums, rtol=1e-5)


def test_a_cell_belongs_to_the_word_that_its_row_writes(trace: Trace) -> None:
    dog = word(trace, "dog")
    for written in (word(trace, label) for label in ("Der", "Hund", "war", "müde.")):
        link = linked(trace, (written,), (dog,))
        for row in link.rows:
            assert texts.words_of_cell(trace, CROSS, row, link.keys[-1]) == (written, dog)
            assert texts.words_of_cell(trace, DECODER, row, 0) == (written, None)
        assert texts.cell_of_word(trace, CROSS, written) == (link.rows[0], None)
    # The end of the translation has a row and is no word; so has the end of the text.
    assert texts.words_of_cell(trace, CROSS, len(trace.target_tokens) - 1, 0)[0] is None
    assert texts.words_of_cell(trace, ENCODER, len(trace.source_tokens) - 1, 0)[0] is None


def test_a_word_of_a_decoder_alone_has_the_row_that_reads_it_given_or_written() -> None:
    writer = zoo.writer("gpt2")
    trace = writer.trace_tokens("the animal", [10, 11, 12])
    assert 1 < trace.rows_before < len(trace.target_tokens) - 1
    known = texts.words(trace)
    for one, group in enumerate(known.groups):
        for position in group:
            assert texts.words_of_cell(trace, DECODER, position, position) == (one, one)
        assert linked(trace, (one,), (0,)) == Link(DECODER, (group,), known.groups[0])


def test_a_word_of_both_texts_is_named_with_its_text(translator: Translator) -> None:
    trace = translator.trace("Tom was tired.", "Tom war müde.")
    first, second = (texts.words(trace).labels.index("Tom"), texts.words(trace).num_source)
    assert [texts.name_of(trace, one) for one in (first, second, second + 1)] == [
        "Tom (source)", "Tom (translation)", "war",
    ]  # fmt: skip
