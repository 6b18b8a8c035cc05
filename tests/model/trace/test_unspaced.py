"""Words of Chinese and Japanese, which have no spaces between them."""

import pytest

from model.trace.axes import whole_words


def in_bytes(text: str) -> list[str]:
    return [f"<0x{byte:02X}>" for byte in text.encode()]


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["▁", "我", "喜欢", "猫", "。"], ["我", "喜欢", "猫。"]),
        (["▁我", "喜", "欢", "cats", "!"], ["我", "喜", "欢", "cats!"]),
        (["▁", *in_bytes("我喜"), "欢"], ["我", "喜", "欢"]),
        (["<0xE6>", "<0x88><0x91><0xE7>", "<0x8C><0xAB>"], ["我猫"]),
        (["▁东京", "タワー", "は", "高", "い"], ["东京", "タワー", "は", "高", "い"]),
        (["▁コ", "ン", "ピ", "ュータ"], ["コンピュータ"]),
        (["▁I", "▁say", "▁“", "你", "好", "”"], ["I", "say", "“你", "好”"]),
        (["▁3", "月", "14", "日"], ["3", "月", "14", "日"]),
        (["▁고", "양이", "는"], ["고양이는"]),
        (["▁didn", "'", "t"], ["didn't"]),
    ],
)
def test_a_chinese_character_is_a_word_and_others_stay_whole(tokens: list[str], words: list[str]) -> None:
    axis = whole_words(tokens)
    assert [label.removeprefix("▁") for label in axis.labels] == words
    assert [position for group in axis.groups for position in group] == list(range(len(tokens)))
