"""Words of Chinese and Japanese, which have no spaces between them."""

import pytest

from model.trace.axes import whole_words
from model.unspaced import begins_word
from model.words import word_spans
from viz.text import marks


def in_bytes(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["▁", "我", "喜欢", "猫", "。"], ["我", "喜欢", "猫。"]),
        (["▁我", "喜", "欢", "cats", "!"], ["我", "喜欢", "cats!"]),
        (["▁", *in_bytes("我喜"), "欢"], ["我", "喜欢"]),
        (["<0xE6>", "<0x88><0x91><0xE7>", "<0x8C><0xAB>"], ["我猫"]),
        (["▁那只", "动", "物", "没有", "过", "马", "路", "，", "因为", "它太", "累", "了", "。"],
         ["那只", "动物", "没有", "过", "马路，", "因为", "它太", "累", "了。"]),
        (["▁猫は", "魚", "が", "好", "き", "です", "。"], ["猫は", "魚が", "好きです。"]),
        (["▁コ", "ン", "ピ", "ュータ"], ["コンピュータ"]),
        (["▁I", "▁say", "▁“", "你", "好", "”"], ["I", "say", "“你好”"]),
        (["▁3", "月", "14", "日"], ["3", "月", "14", "日"]),
        (["▁고", "양이", "는"], ["고양이는"]),
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


def test_words_that_can_be_marked_are_without_signs() -> None:
    text = "那只动物没有过马路，因为它太累了。"
    found = [text[begin:end] for begin, end in marks.word_spans(text)]
    assert found == ["那", "只", "动物", "没有", "过", "马路", "因为", "它", "太", "累", "了"]
    assert marks.word_spans("it's didn't") == [(0, 2), (3, 4), (5, 11)]


@pytest.mark.parametrize("text", ["\ud83d", "猫\ud83d犬", "\U0001f600猫", "々", "ー", "“", "（猫）", "\u200b猫"])
def test_whatever_is_typed_is_cut_without_a_character_lost(text: str) -> None:
    assert "".join(text[begin:end] for begin, end in word_spans(text)) == "".join(text.split())
    pieces = [f"<0x{byte:02X}>" for byte in text.encode("utf-8", errors="replace")]
    assert begins_word(pieces)[0]
