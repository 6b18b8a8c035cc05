"""Many sentences read side by side: each as it is read alone, whatever the model."""

import pytest
import torch

from model import Translator
from model.errors import InputTextError
from model.sequence_translator import SequenceTranslator
from model.translator import EarlierTranslator
from tests.conftest import SENTENCES


@pytest.fixture(params=["Transformer", "recurrent", "convolutional"])
def reader(
    request: pytest.FixtureRequest, translator: Translator, earlier_translators: dict[str, EarlierTranslator]
) -> SequenceTranslator:
    return translator if request.param == "Transformer" else earlier_translators[request.param]


def test_each_trace_is_that_of_its_sentence_alone(reader: SequenceTranslator) -> None:
    sentences = [(SENTENCES[0], SENTENCES[1]), (SENTENCES[4], None), ("Tom.", "Ja."), (SENTENCES[6], None)]
    traces = dict(reader.trace_batch(sentences))
    assert sorted(traces) == [0, 1, 2, 3]
    for number, (text, target) in enumerate(sentences):
        found, alone = traces[number], reader.trace(text, target)
        assert not isinstance(found, InputTextError)
        assert (found.text, found.translation) == (alone.text, alone.translation)
        assert (found.source_tokens, found.target_tokens) == (alone.source_tokens, alone.target_tokens)
        for site in reader.abilities.heads:
            for layer in range(alone.layers_of(site)):
                torch.testing.assert_close(found.weights(site, layer), alone.weights(site, layer), atol=1e-5, rtol=1e-4)
                torch.testing.assert_close(
                    found.head_output(site, layer), alone.head_output(site, layer), atol=1e-5, rtol=1e-4
                )


def test_sentences_that_are_refused_come_first_with_the_reason(reader: SequenceTranslator) -> None:
    (number, refused), (other, blank), *rest = reader.trace_batch([("Tom.", None), (" ", None), ("Tom.", " ")])
    assert (number, other) == (1, 2)
    assert isinstance(refused, InputTextError)
    assert isinstance(blank, InputTextError)
    assert [position for position, _ in rest] == [0]
