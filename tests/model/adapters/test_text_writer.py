"""Models that write: what opens as one, and what is refused in a sentence."""

import math
from pathlib import Path
from typing import Any

import pytest

from model import SwitchOff
from model.adapters.generation import GenerationSession
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.open_folder import explore
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.errors import CancelledError, ConfigError, EditError, InputTextError, SessionError
from model.opening import open_reader
from tests.model.adapters import zoo
from tests.model.adapters.writers import writer

pytestmark = pytest.mark.usefixtures("short_texts")

TEXT = "The animal was too tired."


def test_what_cannot_be_is_said(writers: dict[str, TextWriter], tmp_path: Path) -> None:
    reader = writers["gpt2"]
    for text in ("", " \n"):
        with pytest.raises(InputTextError):
            reader.decode(text)
    with pytest.raises(EditError, match="by name"):
        reader.decode(TEXT, edits={"decoder.layers.0.self_attention.hook_scores": lambda value: value})
    with pytest.raises(EditError, match="Layers"):
        reader.decode(TEXT, edits=[SwitchOff("decoder.self", 9, 0)])
    with pytest.raises(SessionError, match="Nothing has been written"):
        reader.decode(TEXT).trace()
    for beam in (0, 13):
        with pytest.raises(ConfigError, match="width of a beam"):
            reader.beam_tree(TEXT, beam=beam)
    with pytest.raises(ConfigError, match="early_stopping"):
        reader.beam_tree(TEXT, early_stopping="soon")


def test_a_model_that_only_reads_says_so() -> None:
    model: Any = zoo.tiny("bert")
    layout, abilities = explore(model)
    reader = TextReader(model, LibraryTokenizer(zoo._wordpiece()), layout, abilities, name="bert", digest="bert")
    with pytest.raises(SessionError, match="only reads"):
        GenerationSession(reader, TEXT)


def test_settings_for_writing_that_do_not_fit_are_said() -> None:
    reader = writer("gpt2", suppress_tokens="all of them")
    with pytest.raises(SessionError, match=r"generation_config\.json"):
        reader.decode(TEXT)


def test_rules_that_do_not_fit_are_said_where_they_are_first_used() -> None:
    reader = writer("bart", forced_bos_token_id=10**6)
    for write in (reader.trace, reader.translate, reader.beam_tree):
        with pytest.raises(SessionError, match=r"generation_config\.json"):
            write(TEXT)


def test_tokens_that_only_the_tokenizer_knows_are_named() -> None:
    reader = writer("gpt2")
    tokenizer = zoo._metaspace()
    tokenizer.add_tokens([f"extra{number}x" for number in range(400)])
    reader.pieces = LibraryTokenizer(tokenizer)
    for given in (("tired extra399x",), ("tired", "tired extra399x")):
        with pytest.raises(
            InputTextError, match=r"extra399x.*the ids of this model end at 399.*resize_token_embeddings"
        ):
            reader.trace(*given)
    assert reader.trace("tired extra0x").target_ids


def test_texts_of_relative_positions_are_no_longer_than_memory_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    # Four heads at each of three sites, four bytes a number.
    assert writer("t5").abilities.max_length == math.isqrt((1 << 30) // (4 * 12))
    monkeypatch.setattr("model.adapters.layout.LARGEST", 4 * 12 * 10**2)
    reader = writer("t5")
    assert (reader.abilities.max_length, reader.abilities.max_target_length) == (10, 10)
    with pytest.raises(InputTextError, match="at most 10 tokens, because its relative positions"):
        reader.trace("tired " * 11)


def test_a_folder_opens_as_what_writes(tmp_path: Path) -> None:
    reader = open_reader(zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"), device="cpu")
    assert isinstance(reader, TextWriter)
    session = reader.decode(TEXT)
    session.run()
    assert session.trace().target_ids == session.target_ids[:-1]


def test_a_text_that_fills_the_positions_gets_its_last_token() -> None:
    reader = writer("gpt2", eos_token_id=None)
    words = "the " * 96
    while len(reader.pieces.encode(words).ids) > 96:
        words = words[:-2]
    session = reader.decode(words)
    session.run()
    assert len(session.prompt_ids) + len(session.steps) == 97


def test_progress_may_end_a_search_and_a_draw(writers: dict[str, TextWriter]) -> None:
    def stop(done: int, most: int) -> None:
        assert 0 < done <= most
        raise CancelledError

    for write in (writers["gpt2"].beam_tree, writers["gpt2"].sample):
        with pytest.raises(CancelledError):
            write(TEXT, progress=stop)
