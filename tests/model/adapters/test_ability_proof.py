"""What is claimed of a model was tried when it was opened: as the pages read, write, edit and ask."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from model.adapters.text_writer import TextWriter
from model.errors import CheckpointError
from model.opening import open_reader
from tests.model.adapters import zoo

TEXT = "the animal did not cross the street"
Forward = Callable[..., Any]


def test_two_models_joined_are_exact_and_write(tmp_path: Path) -> None:
    reader = open_reader(zoo.save_joined(tmp_path / "joined"))
    assert isinstance(reader, TextWriter)
    proof = reader.abilities.proof
    assert proof is not None
    assert proof.is_exact
    assert reader.abilities.heads == {"encoder.self": (4, 4, 4), "decoder.self": (2, 2), "decoder.cross": (2, 2)}
    made: Any = transformers.EncoderDecoderModel
    model = made.from_pretrained(tmp_path / "joined", attn_implementation="eager").eval()
    given = transformers.AutoTokenizer.from_pretrained(tmp_path / "joined")(TEXT, return_tensors="pt")
    written = model.generate(given.input_ids, attention_mask=given.attention_mask, max_new_tokens=8, num_beams=1)
    session = reader.decode(TEXT)
    while len(session.steps) < 8 and not session.finished:
        session.step()
    assert list(session.target_ids) == written[0].tolist()
    trace = session.trace()
    with torch.inference_mode():
        returned = model(**given, decoder_input_ids=written[:, : len(trace.target_ids)], output_attentions=True)
    for site, layers in {
        "encoder.self": returned.encoder_attentions,
        "decoder.self": returned.decoder_attentions,
        "decoder.cross": returned.cross_attentions,
    }.items():
        for layer, expected in enumerate(layers):
            torch.testing.assert_close(trace.weights(site, layer), expected[0], atol=1e-4, rtol=0)
    before = session.written_ids
    session.back()
    branch = session.branch()
    branch.force(int(before[0]))
    session.step()
    assert session.written_ids == before
    assert branch.written_ids == (*before[:-1], before[0])
    assert len(reader.beam_tree(TEXT, 2).nodes) > 2
    assert len(reader.sample(TEXT, n=2)) == 2


def failing(monkeypatch: pytest.MonkeyPatch, made: Any, fails: Callable[[dict[str, Any]], bool]) -> None:
    """A class of the library that cannot be called so."""
    forward: Forward = made.forward

    @functools.wraps(forward)
    def sometimes(self: Any, *args: Any, **given: Any) -> Any:
        if fails(given):
            raise AttributeError("'Config' object has no attribute 'vocab_size'")
        return forward(self, *args, **given)

    monkeypatch.setattr(made, "forward", sometimes)


def own(folder: Path) -> None:
    """A content of its own: what a content lacks is tried once in a process."""
    (folder / "note.txt").write_text(str(folder), encoding="utf-8")


def reads_two(given: dict[str, Any]) -> bool:
    ids = given.get("input_ids")
    return ids is not None and len(ids) > 1


def test_a_model_of_one_layer_can_do_what_one_of_several_can(tmp_path: Path) -> None:
    several = open_reader(zoo.save_model(tmp_path / "several", "bert")).abilities
    one = open_reader(zoo.save_longest(tmp_path / "one", "bert")).abilities
    assert set(one.lacks) == set(several.lacks)


def test_what_fails_when_it_is_tried_is_not_claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"))
    failing(monkeypatch, transformers.GPT2LMHeadModel, reads_two)
    abilities = open_reader(tmp_path / "gpt2").abilities
    for view in ("beam", "word choice"):
        assert "no attribute 'vocab_size'" in str(abilities.lacks[view])
    assert abilities.generates
    assert abilities.has("edits")


def test_a_model_that_pages_cannot_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(zoo.save_model(tmp_path / "bert", "bert", "wordpiece"))
    # The proof compares weights without what the tokenizer gives beside the ids; a page reads with it.
    failing(monkeypatch, transformers.BertModel, lambda given: "token_type_ids" in given)
    with pytest.raises(CheckpointError, match="the pages cannot use it"):
        open_reader(tmp_path / "bert")


def test_what_does_not_split_into_its_parts_says_so_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own(zoo.save_model(tmp_path / "bert", "bert", "wordpiece"))
    made: Any = transformers.models.bert.modeling_bert.BertSelfOutput
    forward: Forward = made.forward
    # Its weights stay what they are; what a layer gives on is no norm of a sum any more.
    monkeypatch.setattr(made, "forward", lambda self, *given: forward(self, *given).sin())
    abilities = open_reader(tmp_path / "bert").abilities
    assert abilities.proof is not None
    assert abilities.proof.is_exact
    assert not abilities.has("reasons")


def test_a_decoder_that_cannot_be_stepped_by_pages_only_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own(zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"))

    def fail(*_: object, **__: object) -> None:
        raise IndexError("of the cache")

    # A branch copies what is kept, layer by layer; a text that is only written on never does.
    monkeypatch.setattr(transformers.cache_utils.DynamicLayer, "__copy__", fail, raising=False)
    reader = open_reader(tmp_path / "gpt2")
    assert not reader.abilities.generates
    assert "of the cache" in str(reader.abilities.lacks["decoding"])
    assert reader.trace(TEXT).target_ids
