"""Words and pieces are joined by characters, whatever the pieces look like; words of Chinese and Japanese."""

import pytest

from model.errors import DataError
from model.tokenizer import Tokenizer
from model.trace.axes import whole_words
from model.unspaced import begins_word
from model.words import find_words, pieces_of_words, word_spans
from tests.conftest import SENTENCES


def spelled(tokenizer: Tokenizer, text: str) -> list[str]:
    """The text of each word's pieces."""
    token_ids = tokenizer.encode(text)
    words = pieces_of_words(text, tokenizer.offsets(text))
    return [tokenizer.decode([token_ids[i] for i in pieces]) for pieces in words]


@pytest.mark.parametrize(
    "text",
    [*SENTENCES[:8], "it 's a ( small ) test .", "a 🦊 in 汉字 and (🦊🦊)!", '  " two "  words  ', "don't   stop"],
)
def test_the_pieces_of_each_word_spell_it(tokenizer: Tokenizer, text: str) -> None:
    assert spelled(tokenizer, text) == text.split()


def test_tokens_are_found_in_their_sentence() -> None:
    text = 'She said: "It isn\'t."'
    tokens = ["She", "said", ":", "``", "It", "is", "n't", ".", "''"]
    assert [text[slice(*span)] for span in find_words(text, tokens)] == [
        "She", "said", ":", '"', "It", "is", "n't", ".", '"'
    ]  # fmt: skip


@pytest.mark.parametrize("tokens", [["a", "c"], ["a", "b", "c"], ["b"], ["a", ""]])
def test_tokens_of_another_sentence_are_said(tokens: list[str]) -> None:
    with pytest.raises(DataError, match="expected the token"):
        find_words("a b", tokens)


def in_bytes(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["▁我", "喜欢"], ["我", "喜欢"]),
        (["▁", "我", "喜欢", "猫", "。"], ["我", "喜欢", "猫。"]),
        (["▁我", "喜", "欢", "cats", "!"], ["我", "喜欢", "cats!"]),
        (["▁", *in_bytes("我喜"), "欢"], ["我", "喜欢"]),
        (["<0xE6>", "<0x88><0x91><0xE7>", "<0x8C><0xAB>"], ["我猫"]),
        (["▁那只", "动", "物", "没有", "过", "马", "路", "，", "因为", "它太", "累", "了", "。"],
         ["那只", "动物", "没有", "过", "马路，", "因为", "它太", "累", "了。"]),
        (["▁猫は", "魚", "が", "好", "き", "です", "。"], ["猫は", "魚が", "好きです。"]),
        (["▁コ", "ン", "ピ", "ュータ"], ["コンピュータ"]),
        (["▁I", "▁say", "▁“", "你", "好", "”"], ["I", "say", "“你好”"]),
        (["▁didn", "'", "t"], ["didn't"]),
    ],
)  # fmt: skip
def test_tokens_are_joined_to_the_words_of_a_dictionary(tokens: list[str], words: list[str]) -> None:
    axis = whole_words(tokens)
    assert [label.removeprefix("▁") for label in axis.labels] == words
    assert [position for group in axis.groups for position in group] == list(range(len(tokens)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("奖杯放不进箱子，因为它太大了。", ["奖杯", "放", "不", "进", "箱子，", "因为", "它", "太", "大", "了。"]),
        ("他说：“我喜欢猫。”", ["他", "说：", "“我", "喜欢", "猫。”"]),
        ("The 猫 ran.", ["The", "猫", "ran."]),
        ("猫は魚が好きです。", ["猫は", "魚が", "好きです。"]),
        ("GPU上的模型", ["GPU", "上", "的", "模型"]),
        ("", []),
    ],
)
def test_a_text_has_the_words_of_a_dictionary_and_punctuation_stays_with_them(text: str, words: list[str]) -> None:
    assert [text[begin:end] for begin, end in word_spans(text)] == words


@pytest.mark.parametrize("text", ["\ud83d", "猫\ud83d犬", "\U0001f600猫", "々", "ー", "“", "（猫）", "\u200b猫"])
def test_whatever_is_typed_is_cut_without_a_character_lost(text: str) -> None:
    assert "".join(text[begin:end] for begin, end in word_spans(text)) == "".join(text.split())
    pieces = [f"<0x{byte:02X}>" for byte in text.encode("utf-8", errors="replace")]
    assert begins_word(pieces)[0]
