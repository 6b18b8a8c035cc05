"""Neighbours and sums in the embedding matrix, against torch's own cosine."""

from dataclasses import replace

import pytest
import torch

from model import Transformer, Translator
from model.analysis.embedding_space import EmbeddingSpace, embedding_space, is_shared, seen_in
from model.tokenizer import Tokenizer
from model.training_record import LANGUAGES
from tests.model.adapters.writers import writer
from tests.paths import ROOT

TOKENS = ("<s>", "▁up", "▁down", "▁left", "▁far", "up")
POINTS = torch.tensor([[0.0, 1.0], [0.0, 1.0], [0.0, -2.0], [-1.0, 0.1], [0.0, 3.0], [1.0, 1.0]])
SPACE = EmbeddingSpace(TOKENS, POINTS / POINTS.norm(dim=1, keepdim=True), POINTS.norm(dim=1), frozenset({0}))


def test_neighbours_are_ranked_by_torchs_cosine_without_the_token_itself(translator: Translator) -> None:
    space = embedding_space(translator)
    weight = translator.model.encoder.embedding.tokens.weight.detach()
    cosines = torch.cosine_similarity(weight, weight[40][None])
    cosines[[40, *translator.special_ids]] = -2
    best = cosines.topk(10)
    found = space.neighbours(40, 10)
    assert [one.token_id for one in found] == best.indices.tolist()
    torch.testing.assert_close(torch.tensor([one.cosine for one in found]), best.values)


def test_special_tokens_are_nobodys_neighbours() -> None:
    assert [one.token for one in SPACE.neighbours(1, 10)] == ["▁far", "up", "▁left", "▁down"]


def test_a_sum_of_a_word_minus_itself_plus_another_is_the_other() -> None:
    answer = SPACE.arithmetic(1, 1, 3, expected=3, count=3)
    assert answer.nearest[0].token == "▁left"
    assert (answer.rank, answer.rank_without) == (1, 1)
    assert answer.cosine == pytest.approx(1)


def test_a_rank_counts_the_words_of_the_sum_only_where_they_are_not_left_out() -> None:
    # (0, 3) − (0, 1) + (−1, 0.1) = (−1, 2.1): all three point more nearly there than (1, 1).
    answer = SPACE.arithmetic(4, 1, 3, expected=5, count=3)
    assert {one.token for one in answer.nearest} == {"▁far", "▁up", "▁left"}
    assert (answer.rank, answer.rank_without) == (4, 1)


def test_a_word_is_found_as_a_piece_that_begins_a_word_first() -> None:
    assert SPACE.find("up") == 1
    assert SPACE.find("▁far") == 4
    assert SPACE.find("king") is None


def test_separate_embeddings_are_those_of_their_stack(translator: Translator) -> None:
    torch.manual_seed(1)
    model = Transformer(replace(translator.config, share_embeddings=False))
    apart = Translator(model, translator.tokenizer, name="a", digest="a", languages=LANGUAGES)
    assert is_shared(translator)
    assert not is_shared(apart)
    target = model.decoder.embedding.tokens.weight.detach()
    torch.testing.assert_close(embedding_space(apart, is_target=True).lengths, target.norm(dim=1))


@pytest.mark.parametrize("model_type", ["gpt2", "t5"])
def test_models_of_the_library_have_neighbours(model_type: str) -> None:
    reader = writer(model_type)
    space = embedding_space(reader)
    assert len(space.tokens) == len(space.directions)
    found = space.neighbours(50, 5)
    assert len(found) == 5
    assert found[0].cosine == max(one.cosine for one in found)


def test_pieces_are_placed_by_the_sentences_that_have_them() -> None:
    tokenizer = Tokenizer.load(ROOT / "checkpoints" / "en-de" / "tokenizer.model")
    of = dict(zip(tokenizer.tokens(range(tokenizer.vocab_size)), seen_in(tokenizer), strict=True))
    assert {of[f"▁{word}"] for word in ("the", "street", "because")} == {"English"}
    assert {of[f"▁{word}"] for word in ("der", "weil", "Straße", "müde")} == {"German"}
    assert {of[f"▁{word}"] for word in ("in", "so")} == {"both"}
    assert of["<pad>"] == ""
