"""The tree of a beam search: the same search, every hypothesis that it compared, and what became of it."""

import math

import pytest
import torch

from model import BeamTree, Transformer, TransformerConfig, Translator
from model.decoding import search as searching
from model.decoding.beam import Candidate, SentenceBeam, grow_tree, length_penalty
from model.decoding.search import beam_search, search_beams
from model.errors import ConfigError
from model.tokenizer import Tokenizer

SOURCE = torch.tensor([[21, 40, 9, 130, 3]])
LIMIT = 12
SETTINGS = [(1, 0.6), (2, 0.0), (3, 1.5), (4, 0.6), (5, 1.0), (8, 0.6), (12, 0.0), (12, 1.0)]


def random_model(seed: int) -> Transformer:
    """A tiny model of random weights whose </s> is so likely that hypotheses end early, late, and not at all."""
    torch.manual_seed(seed)
    config = TransformerConfig(vocab_size=370, d_model=8, num_layers=1, num_heads=2, d_ff=16, norm="pre")
    model = Transformer(config).eval()
    bias = torch.zeros(config.vocab_size)
    bias[config.eos_id] = 2.0 + 2 * seed
    model.projection.bias = torch.nn.Parameter(bias)
    # Sharper distributions, so that some continuations are far ahead of others.
    model.projection.weight = torch.nn.Parameter(2 * model.projection.weight)
    return model


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "EXTRA_LENGTH", LIMIT - 4)


def tree_of(model: Transformer, tokenizer: Tokenizer, width: int, alpha: float) -> BeamTree:
    (search,) = search_beams(model, SOURCE, None, beam=width, alpha=alpha)
    return grow_tree(search, model.config.bos_id, tokenizer)


@pytest.fixture(scope="module", params=[(seed, *one) for seed in range(4) for one in SETTINGS], ids=str)
def grown(request: pytest.FixtureRequest, tokenizer: Tokenizer) -> tuple[Transformer, BeamTree]:
    seed, width, alpha = request.param
    model = random_model(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "EXTRA_LENGTH", LIMIT - 4)
        return model, tree_of(model, tokenizer, width, alpha)


def test_winner_and_scores_are_those_of_beam_search(grown: tuple[Transformer, BeamTree]) -> None:
    model, tree = grown
    (hypotheses,) = beam_search(model, SOURCE, None, beam=tree.width, alpha=tree.alpha)
    assert len(tree.hypotheses) == len(hypotheses) == tree.width
    assert tree.winner.index == tree.hypotheses[0]
    for index, hypothesis in zip(tree.hypotheses, hypotheses, strict=True):
        node = tree.nodes[index]
        assert [one for one in tree.token_ids(index) if one != model.config.eos_id] == hypothesis.token_ids
        assert node.total == hypothesis.log_prob
        assert node.score == hypothesis.log_prob / length_penalty(len(hypothesis.token_ids) + 1, tree.alpha)


def test_each_step_compares_the_best_continuations_of_the_rows_before_it(grown: tuple[Transformer, BeamTree]) -> None:
    model, tree = grown
    for step in range(tree.nodes[-1].step + 1):
        candidates = [node for node in tree.nodes if node.step == step]
        living = {node.row: node for node in tree.nodes if node.step == step - 1 and node.row is not None}
        rows = [node for _, node in sorted(living.items())]
        assert [node.row for node in rows] == list(range(1 if step == 0 else tree.width))
        with torch.no_grad():
            prefixes = torch.tensor([[model.config.bos_id, *tree.token_ids(node.index)] for node in rows])
            log_probs = model(SOURCE.expand(len(rows), -1), prefixes)[:, -1].log_softmax(-1)
        totals = log_probs + torch.tensor([[node.total] for node in rows])
        best = totals.flatten().topk(2 * tree.width).values.tolist()
        assert [node.total for node in candidates] == pytest.approx(best, abs=1e-4)
        assert [node.rank for node in candidates] == list(range(2 * tree.width))
        assert {node.parent for node in candidates} <= {node.index for node in rows}


def test_a_tie_or_an_early_end_costs_no_node(tokenizer: Tokenizer) -> None:
    # By hand: width 2; </s> (3) ends a hypothesis at once, and another is kept until the limit of 2.
    search = SentenceBeam(limit=2, width=2, alpha=0.0)
    for totals in (
        [(-1.0, 0, 3), (-2.0, 0, 10), (-3.0, 0, 11), (-4.0, 0, 12)],
        [(-2.5, 0, 20), (-2.5, 0, 21), (-3.5, 1, 3), (-5.0, 1, 22)],
    ):
        search = search.extended([Candidate(*one) for one in totals], eos_ids=(3,))
    tree = grow_tree(search, 2, tokenizer)
    assert [(node.token_id, node.parent, node.fate, node.fate_step, node.score) for node in tree.nodes] == [
        (2, None, "continued", 0, None),
        (3, 0, "finished", 0, -1.0),
        (10, 0, "continued", 1, None),
        (11, 0, "outranked", 1, None),
        (12, 0, "outranked", 0, None),
        (20, 2, "length limit", 1, -2.5),
        (21, 2, "outscored", 1, -2.5),
        (3, 3, "outranked", 1, None),
        (22, 3, "outranked", 1, None),
    ]
    assert [node.log_prob for node in tree.nodes] == [0, -1, -2, -3, -4, -0.5, -0.5, -0.5, -2]
    # No row of the batch has read what the last step wrote.
    assert [node.row for node in tree.nodes] == [0, None, 0, 1, None, None, None, None, None]
    assert tree.hypotheses == (1, 5)
    assert tree.rows(5) == (0, 0)
    assert tree.token_ids(0) == ()


def test_a_translator_grows_the_tree_of_its_translation(tokenizer: Tokenizer) -> None:
    translator = Translator(random_model(1), tokenizer)
    tree = translator.beam_tree("Hi.", beam=3, alpha=0.8)
    assert tokenizer.decode(tree.token_ids(tree.winner.index)) == translator.translate("Hi.", beam=3, alpha=0.8)
    assert tokenizer.tokens([node.token_id for node in tree.nodes]) == tuple(node.token for node in tree.nodes)
    for wrong in ({"beam": 0}, {"beam": 13}, {"alpha": -0.1}, {"alpha": math.nan}):
        with pytest.raises(ConfigError, match="got"):
            translator.beam_tree("Hi.", **wrong)
