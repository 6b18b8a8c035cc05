"""Tokens of every kind of tokenizer, spelled alike; translators of many languages read and write those chosen."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers

from model import open_reader
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.text_writer import TextWriter
from model.errors import InputTextError
from model.languages import html_language
from model.opening import as_writer
from model.trace.axes import whole_words
from tests.conftest import SENTENCES
from tests.model.adapters import zoo
from tests.model.adapters.zoo import save_tokenizer
from tests.often import often

TEXT = "The animal didn't cross the street."
WORDS = ("The", "animal", "didn't", "cross", "the", "street.")


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], LibraryTokenizer]:
    def made(kind: str) -> LibraryTokenizer:
        folder: Path = tmp_path_factory.mktemp(kind)
        save_tokenizer(folder, kind)
        return LibraryTokenizer(transformers.AutoTokenizer.from_pretrained(str(folder)))

    return made


@pytest.mark.parametrize("kind", ["wordpiece", "bytes", "metaspace"])
def test_words_are_what_white_space_separates(pieces: Callable[[str], LibraryTokenizer], kind: str) -> None:
    made = pieces(kind)
    encoded = made.encode(TEXT)
    words = whole_words(encoded.tokens, made.special_tokens).without_special_tokens(made.special_tokens)
    expected = tuple(map(str.lower, WORDS)) if kind == "wordpiece" else WORDS
    assert words.labels == expected
    assert len(encoded.ids) == len(encoded.tokens)


def test_bytes_that_are_no_whole_character_are_readable_and_join_to_one(
    pieces: Callable[[str], LibraryTokenizer],
) -> None:
    made = pieces("bytes")
    tokens = made.encode("a 🐈 é").tokens
    assert tokens[0] == "a"
    assert [token for token in tokens if token.startswith("<0x")][:4] == ["<0xF0>", "<0x9F>", "<0x90>", "<0x88>"]
    assert "🐈" in whole_words(tokens, made.special_tokens).labels[1]


def test_an_added_token_in_another_script_is_shown_as_it_is_written(tmp_path: Path) -> None:
    save_tokenizer(tmp_path, "bytes")
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    tokenizer.add_tokens(["动物"])
    assert "动物" in LibraryTokenizer(tokenizer).encode("the 动物 cat").tokens


def test_a_line_that_ends_is_a_sign_of_its_own_and_the_next_word_begins(
    pieces: Callable[[str], LibraryTokenizer],
) -> None:
    made = pieces("bytes")
    tokens = made.encode("the\nanimal\tthe").tokens
    assert tokens[tokens.index("⏎") + 1].startswith("▁")
    assert not any(sign in token for token in tokens for sign in "\n\t ")
    assert whole_words(tokens, made.special_tokens).labels[:3] == ("the", "⏎", "animal⇥the")


def fallback(decoder: decoders.Decoder) -> LibraryTokenizer:
    """A vocabulary of "▁", the letters of "cat" and all single bytes."""
    vocabulary = {token: number for number, token in enumerate(["<unk>", "▁", "c", "a", "t"])}
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    made = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.decoder = decoder
    return LibraryTokenizer(transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>"))


def test_with_byte_fallback_a_byte_that_is_a_whole_character_is_spelled_as_it() -> None:
    parts: list[decoders.Decoder] = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    made = fallback(decoders.Sequence(parts))
    encoded = made.encode("cat (+)\n猫")
    assert encoded.tokens == ("c", "a", "t", "▁", "(", "+", ")", "⏎", "▁<0xE7>", "<0x8C>", "<0xAB>")
    assert whole_words(encoded.tokens, made.special_tokens).labels == ("cat", "(+)", "⏎", "猫")
    assert len(made.byte_ids) == 256
    assert made.token_id("(") in made.byte_ids


def test_a_piece_that_only_looks_like_a_byte_stays_as_it_is() -> None:
    made = fallback(decoders.Metaspace())
    assert made.tokens([made.tokenizer.convert_tokens_to_ids("<0x28>")]) == ("<0x28>",)
    assert not made.byte_ids


@pytest.mark.parametrize("text", ["\ud800 x", "שלום", "\u202eabc", "<b>x</b>", "a" * 5000, "\x00\x07"])
def test_any_text_has_tokens_and_comes_out_without_an_error(
    pieces: Callable[[str], LibraryTokenizer], text: str
) -> None:
    for kind in ("wordpiece", "bytes", "metaspace"):
        encoded = pieces(kind).encode(text)
        assert len(encoded.ids) == len(encoded.tokens)
        assert all(token for token in encoded.tokens)


LONG_TEXT = SENTENCES[0]
#: Kind of tokenizer → what is read and written in these tests.
CHOSEN = {
    "nllb": ("fra_Latn", "zho_Hans"),
    "mbart": ("fr_XX", "de_DE"),
    "mbart50": ("fr_XX", "zh_CN"),
    "m2m_100": ("fr", "zh"),
}


@pytest.fixture(scope="module", params=often(CHOSEN, ("nllb", "mbart")))
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, TextWriter, Any]:
    """The kind, the model that was opened, and the library's tokenizer of its folder."""
    kind = request.param
    folder = tmp_path_factory.mktemp(kind) / "model"
    zoo.save_many_languages(folder, kind)
    opened = as_writer(open_reader(folder, "cpu"))
    assert isinstance(opened, TextWriter)
    return kind, opened, transformers.AutoTokenizer.from_pretrained(str(folder))


def test_the_chosen_languages_are_read_and_written(translator: tuple[str, TextWriter, Any]) -> None:
    kind, opened, tokenizer = translator
    reads, writes = CHOSEN[kind]
    chosen = opened.speaking(reads, writes)
    assert chosen.languages == (html_language(reads), html_language(writes))
    tokenizer.src_lang = reads
    given = tokenizer(LONG_TEXT, return_tensors="pt")
    language = tokenizer.get_lang_id(writes) if kind == "m2m_100" else tokenizer.convert_tokens_to_ids(writes)
    begin = {"decoder_start_token_id" if kind == "mbart" else "forced_bos_token_id": language}
    with torch.inference_mode():
        model: Any = chosen.model
        expected = model.generate(**given, **begin, max_new_tokens=12, do_sample=False, num_beams=1)[0].tolist()
    session = chosen.decode(LONG_TEXT)
    while len(session.target_ids) < len(expected):
        session.step()
    trace = session.trace()
    assert list(trace.source_ids) == given.input_ids[0].tolist()
    assert [*trace.target_ids, session.target_ids[-1]] == expected
    assert language in expected[:2]
    place = chosen.place(LONG_TEXT)
    assert place.target[-1] == language
    assert chosen.place_logits(place).argmax().item() == expected[len(place.target)]


def test_every_choice_has_traces_of_its_own(translator: tuple[str, TextWriter, Any]) -> None:
    kind, opened, _ = translator
    reads, writes = CHOSEN[kind]
    assert len({opened.key, opened.speaking(reads).key, opened.speaking(reads, writes).key}) == 3
    assert opened.speaking(reads).source(LONG_TEXT).ids != opened.source(LONG_TEXT).ids
    # What the folder was trained for is written until somebody chooses; else German, or English.
    written = {"nllb": "deu_Latn", "mbart": "ro_RO", "mbart50": "de_DE", "m2m_100": "de"}[kind]
    assert opened.pieces.spoken[1] == written
    # Whoever else holds the model reads as before.
    assert opened.pieces.spoken == opened.offered.chosen


def test_an_unknown_language_is_one_sentence(translator: tuple[str, TextWriter, Any]) -> None:
    _, opened, _ = translator
    with pytest.raises(InputTextError, match=r"does not know the language 'tlh'. Choose one of its [\d]+: \w+"):
        opened.speaking("", "tlh")
