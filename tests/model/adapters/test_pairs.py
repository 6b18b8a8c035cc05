"""An encoder reads all that its tokenizer gives: types of tokens, and two texts as a pair."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from model.adapters.text_reader import TextReader
from model.errors import InputTextError
from model.opening import as_pair, open_reader
from model.trace.file import load_trace, save_trace
from tests.benchmarks import architectures
from tests.model.adapters import zoo
from tests.often import often

TEXT, SECOND = "the animal did not cross the street", "was it too tired?"
ENCODERS = [kind for kind, stacks in zoo.KINDS.items() if stacks == "encoder"]


def compare(folder: Path, second: str) -> torch.Tensor:
    """The largest difference of a trace's weights from those that the library returns for what its tokenizer gives."""
    trace = as_pair(open_reader(folder), second).trace(TEXT)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    made: Any = transformers.AutoModel
    model = made.from_pretrained(folder, attn_implementation="eager").eval()
    given = tokenizer(TEXT, second or None, return_tensors="pt")
    assert trace.source_ids == tuple(given.input_ids[0].tolist())
    taken = inspect.signature(model.forward).parameters
    with torch.inference_mode():
        returned = model(**{name: value for name, value in given.items() if name in taken}, output_attentions=True)
    layers = range(trace.layers_of("encoder.self"))
    return torch.stack([(trace.weights("encoder.self", n) - returned.attentions[n][0]).abs().max() for n in layers])


@pytest.mark.parametrize("model_type", often(ENCODERS, ("bert", "roberta", "mpnet")))
def test_weights_are_those_of_the_library_for_what_the_tokenizer_gives(tmp_path: Path, model_type: str) -> None:
    zoo.save_model(tmp_path / model_type, model_type, "wordpiece")
    for second in ("", SECOND):
        assert float(compare(tmp_path / model_type, second).max()) < 1e-4


OTHERS = ["big_bird", "convbert", "megatron-bert", "mobilebert", "nystromformer", "rembert", "roformer", "xlnet"]


@pytest.mark.long
@pytest.mark.parametrize("model_type", OTHERS)
def test_other_kinds_of_the_library_read_pairs_as_it_does(tmp_path: Path, model_type: str) -> None:
    architectures.save(model_type, tmp_path / model_type)
    zoo.save_tokenizer(tmp_path / model_type, "wordpiece")
    assert float(compare(tmp_path / model_type, SECOND).max()) < 1e-4


def test_the_tokens_of_a_pair_are_of_its_first_or_its_second_text(
    opened: Callable[[str], TextReader], tmp_path: Path
) -> None:
    reader = as_pair(opened("bert"), SECOND)
    trace = reader.trace(TEXT)
    first = len(opened("bert").trace(TEXT).source_ids)
    assert trace.roles == ("A",) * first + ("B",) * (len(trace.source_ids) - first)
    assert trace.key != opened("bert").trace(TEXT).key
    save_trace(trace, tmp_path / "pair.npz")
    assert load_trace(tmp_path / "pair.npz").roles == trace.roles
    assert opened("bert").trace(TEXT).roles == ()


def test_a_masked_word_of_a_pair_is_what_the_library_says(tmp_path: Path) -> None:
    folder = zoo.save_model(tmp_path / "bert", "bert", "wordpiece", head="masked")
    reader = as_pair(open_reader(folder), SECOND)
    assert isinstance(reader, TextReader)
    masked = "the [MASK] did not cross the street"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    given = tokenizer(masked, SECOND, return_tensors="pt")
    made: Any = transformers.AutoModelForMaskedLM
    model = made.from_pretrained(folder).eval()
    place = reader.place(masked)
    with torch.inference_mode():
        expected = model(**given).logits[0, place.row]
        without_types = model(given.input_ids).logits[0, place.row]
    torch.testing.assert_close(reader.place_logits(place)[0], expected, atol=1e-4, rtol=1e-4)
    assert float((without_types - expected).abs().max()) > 0.1
    # The same place traced, and run again.
    trace = reader.trace_place(place, 5)
    with torch.inference_mode():
        states = model(**given, output_hidden_states=True).hidden_states[-1]
    torch.testing.assert_close(reader.run_again(trace).last_hidden_state, states, atol=1e-4, rtol=1e-4)


def test_a_second_text_is_for_encoders_and_not_blank(opened: Callable[[str], TextReader]) -> None:
    with pytest.raises(InputTextError, match="Only an encoder"):
        opened("gpt2").with_second(SECOND)
    with pytest.raises(InputTextError, match="second text"):
        opened("bert").with_second(" \n")
    assert as_pair(opened("gpt2"), SECOND) is opened("gpt2")
    assert as_pair(opened("bert"), " ") is opened("bert")


def test_a_model_of_single_texts_refuses_a_second_one(tmp_path: Path) -> None:
    zoo.tiny("bert", changes={"type_vocab_size": 1}).save_pretrained(tmp_path)
    zoo.save_tokenizer(tmp_path, "wordpiece")
    with pytest.raises(InputTextError, match="second text the type 1, but the model's types of tokens end at 0"):
        as_pair(open_reader(tmp_path), SECOND).trace(TEXT)
