"""Classifiers, taggers and models that find answers keep their head: which words a label comes from can be asked."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from model.adapters.label_reader import LabelReader
from model.analysis.attribution.choice import TokenChoice
from model.analysis.attribution.methods import attribute, choice_run
from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.patching import patch_heads
from model.analysis.interventions.word_pairs import gift_pairs, own_pair
from model.errors import InputTextError
from model.opening import open_reader
from tests.model.adapters import zoo

A, B = "The animal was tired.", "The street was too wide."
NAMES = {0: "good", 1: "bad", 2: "neither"}
#: Kind → the library's class, the model beneath it, and its tokenizer.
MADE: dict[str, tuple[Any, str, str]] = {
    "text": (transformers.AutoModelForSequenceClassification, "bert", "wordpiece"),
    "decoder": (transformers.AutoModelForSequenceClassification, "gpt2", "bytes"),
    "token": (transformers.AutoModelForTokenClassification, "roberta", "wordpiece"),
    "answer": (transformers.AutoModelForQuestionAnswering, "bert", "wordpiece"),
}


@pytest.fixture(scope="module", params=MADE)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, LabelReader, Any]:
    """The kind, what was opened, and the library's own model."""
    auto, model_type, tokenizer = MADE[request.param]
    folder: Path = tmp_path_factory.mktemp("labels") / request.param
    values = zoo.CONFIGS[model_type] | ({} if request.param == "answer" else {"id2label": NAMES})
    torch.manual_seed(3)
    theirs = auto.from_config(transformers.AutoConfig.for_model(model_type, **values)).eval()
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if parameter.dim() > 1 and "norm" not in name:
                parameter.normal_(std=0.3)
    theirs.save_pretrained(folder)
    zoo.save_tokenizer(folder, tokenizer)
    reader = open_reader(folder, "cpu")
    assert isinstance(reader, LabelReader)
    return request.param, reader, theirs


def _expected(kind: str, theirs: Any, ids: tuple[int, ...], row: int) -> torch.Tensor:
    with torch.inference_mode():
        output = theirs(torch.tensor([ids]))
    if kind == "answer":
        return output.start_logits[0]
    return output.logits[0, row] if kind == "token" else output.logits[0]


def test_labels_are_those_of_the_saved_head(opened: tuple[str, LabelReader, Any]) -> None:
    kind, reader, theirs = opened
    place = reader.place(A)
    ids = place.source or place.target
    assert ids == reader.source(A).ids
    expected = _expected(kind, theirs, ids, place.row)
    torch.testing.assert_close(reader.place_logits(place, copies=2)[1], expected, atol=1e-5, rtol=1e-5)
    if kind == "answer":
        assert reader.labels(A)[1] == "2: ▁the"
    else:
        assert reader.labels(A) == tuple(NAMES.values())
        choice = reader.word_choice(A, "bad", "good")
        odds = reader.log_odds([choice])[0, 0]
        torch.testing.assert_close(odds, expected[1] - expected[0], atol=1e-5, rtol=1e-5)
    # It is offered nothing that it was never trained for.
    assert not reader.abilities.generates
    assert gift_pairs(reader) == {}


@pytest.mark.parametrize("opened", ["token"], indirect=True)
def test_a_tagger_is_asked_about_the_word_in_brackets(opened: tuple[str, LabelReader, Any]) -> None:
    _, reader, _ = opened
    place, marked = reader.place(A), reader.place("The [animal] was tired.")
    assert marked.source == place.source
    tokens = reader.source(A).tokens
    assert "▁animal".startswith(tokens[marked.row])
    assert tokens[place.row] == "."


@pytest.mark.parametrize("opened", ["answer"], indirect=True)
def test_where_an_answer_begins_is_asked_of_tokens_that_both_texts_have(opened: tuple[str, LabelReader, Any]) -> None:
    _, reader, _ = opened
    count = len(reader.labels(A))
    for times in range(1, 9):
        longer = A + " It was wide." * times
        assert own_pair(reader, A, longer, (2,)).pair.a.wrong < count
        assert own_pair(reader, longer, A).pair.a.right < count
    assert own_pair(reader, longer, A, (count - 1,)).pair.a.right == count - 1
    with pytest.raises(InputTextError, match=f"has {count} tokens, and token {count + 1} is asked about"):
        own_pair(reader, longer, A, (count,))


def test_attribution_heads_off_and_patching_ask_for_a_label(opened: tuple[str, LabelReader, Any]) -> None:
    kind, reader, theirs = opened
    label = 2
    pair = own_pair(reader, A, B, (label,)).pair
    assert pair.a.right == label != pair.a.wrong
    choice = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong)
    run = choice_run(reader, choice, A)
    integrated = attribute(run, "integrated")
    assert integrated.integration is not None
    # What is given to all words adds up to what the choice changes by, from nothing read to the text.
    ids = choice.read
    expected = _expected(kind, theirs, ids, pair.a.place.row)
    odds = float(expected[label] - expected[pair.a.wrong])
    base = float(run.of_embeddings(*(torch.zeros_like(each) for each in run.embeddings()))[0].detach())
    assert float(integrated.read.sum()) == pytest.approx(odds - base, abs=0.05 * max(1.0, abs(odds - base)))
    assert attribute(run, "gradient").read.shape == (len(ids),)
    effects = measure_effects(reader, [pair.a])
    assert effects.changes.shape == (1, 8)
    assert float(effects.changes.abs().max()) > 1e-3
    patched = patch_heads(reader, [pair]).changes
    assert patched.shape == (1, 8)
    assert float(patched.abs().max()) > 1e-3


def test_a_model_of_one_number_has_no_labels_to_choose_between(tmp_path: Path) -> None:
    config = transformers.AutoConfig.for_model("bert", **zoo.CONFIGS["bert"], num_labels=1)
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path / "reward")
    zoo.save_tokenizer(tmp_path / "reward", "wordpiece")
    reader = open_reader(tmp_path / "reward", "cpu")
    assert reader.trace(A).layers_of("encoder.self")
    assert isinstance(reader, LabelReader)
    with pytest.raises(InputTextError, match="one number"):
        reader.place(A)
