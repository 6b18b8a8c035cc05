"""A node as the model's own session writes it, and the score of greedy search."""

from dataclasses import replace

import numpy as np
import pytest

from model import BeamTree
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.reading import traced, tree_of
from viz.access import models
from viz.pages.decoding.data import searches
from viz.selection.selection import Selection


@pytest.fixture
def tree(chosen: Selection) -> BeamTree:
    return tree_of(TEXT, chosen)


def test_a_node_is_traced_as_a_session_that_wrote_the_same(chosen: Selection, tree: BeamTree) -> None:
    index = tree.hypotheses[-1]
    session = models.translator(chosen.model).decode(TEXT)
    for token_id in tree.token_ids(index):
        session.force(token_id)
    expected = session.trace().weights("decoder.cross", 1).numpy()
    trace = searches.hypothesis_trace(models.writer(chosen.model), TEXT, tree.token_ids(index))
    found = trace.weights("decoder.cross", 1).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_score_of_greedy_search_is_that_of_a_beam_of_one(chosen: Selection) -> None:
    tree = tree_of(TEXT, Selection().changed(checkpoint="en-de", text=TEXT, beam_size=1, length_penalty=0))
    trace = traced(TEXT, chosen)
    assert searches.greedy_score(trace, models.writer(chosen.model), 0.0) == pytest.approx(tree.winner.score, abs=1e-4)


def test_the_score_of_a_translation_counts_its_end_even_where_it_is_missing(chosen: Selection) -> None:
    end = models.translator(chosen.model).config.eos_id
    trace = traced(TEXT, chosen)
    first = replace(trace.steps[0], token_id=end + 1, log_prob=-3.0)
    ended = replace(trace, steps=(first, replace(first, token_id=end)))
    # -6 over ((5 + 2) / 6)^1 and over ((5 + 3) / 6)^1.
    writer = models.writer(chosen.model)
    assert searches.greedy_score(ended, writer, 1.0) == pytest.approx(-36 / 7)
    assert searches.greedy_score(replace(trace, steps=(first, first)), writer, 1.0) == pytest.approx(-4.5)
