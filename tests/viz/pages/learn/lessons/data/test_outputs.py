"""What lessons say of the translation with something taken out."""

from math import exp

import pytest
import torch

from viz.access import word_links
from viz.pages.learn.lessons.data import search
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.pictures import Bars

TEXT = "The animal didn't cross the street because it was too tired."


def test_a_hidden_word_is_a_key_that_no_attention_sees(shipped: Shipped) -> None:
    view = search.hidden_words(shipped, text=TEXT, word="es", other="sie", hidden="animal")
    trace, translator = shipped.trace(TEXT), shipped.translator
    row = shipped.row(trace, "decoder.self", "es")
    assert view.found["before"] == pytest.approx(exp(trace.steps[row].log_prob), abs=1e-4)
    known = word_links.words(trace)
    seen = torch.ones(1, len(trace.source_ids), dtype=torch.bool)
    seen[0, list(known.groups[known.labels.index("animal")])] = False
    source, target = torch.tensor([trace.source_ids]), torch.tensor([trace.target_ids[: row + 1]])
    with torch.no_grad():
        hidden = translator.model.decode(target, translator.model.encode(source, seen), seen)
        expected = float(translator.model.projection(hidden[0, -1]).softmax(-1)[trace.steps[row].token_id])
    assert view.found["hidden_after"] == pytest.approx(expected, abs=1e-4)


def test_every_word_of_the_sentence_is_hidden_once(shipped: Shipped) -> None:
    view = search.hidden_words(shipped, text=TEXT, word="es", other="sie", hidden="animal")
    assert isinstance(view.picture, Bars)
    assert view.picture.labels == [
        "nothing", "The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too", "tired",
    ]  # fmt: skip
    assert all(len(values) == len(view.picture.labels) for values in view.picture.series.values())
