"""Places of a matrix: tokens or words, special tokens left out, weights between them; runs of tokens of a role."""

import pytest
import torch

from model.tokenizer import Tokenizer
from model.trace.axes import Axis, RoleRun, between, check_roles, has_runs, role_runs, single_tokens, whole_words
from tests.conftest import SENTENCES

TOKENS = ("<s>", "▁Tom", "▁sch", "läft", ".", "▁", "<0xF0>", "<0x9F>", "<0xA6>", "<0x8A>", "!", "</s>")


def test_a_word_begins_at_its_space_and_a_special_token_stands_alone() -> None:
    words = whole_words(TOKENS)
    assert words.labels == ("<s>", "Tom", "schläft.", "🦊!", "</s>")
    assert words.groups == ((0,), (1,), (2, 3, 4), (5, 6, 7, 8, 9, 10), (11,))


@pytest.mark.parametrize("text", [*SENTENCES[:8], "a 🦊 in 汉字 and (🦊🦊)!", '  " two "  words  ', "</s> <s>"])
def test_words_of_a_text_are_what_white_space_separates(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.tokens(tokenizer.encode(text))
    words = whole_words(tokens)
    assert list(words.labels) == text.split()
    assert [position for group in words.groups for position in group] == list(range(len(tokens)))


FORMULA = ("▁CC", "(", "=", "O", ")", "OC", "1", "=", "CC", "=", "CC", "=", "C1", "C", "(", "=", "O", ")", "O")


@pytest.mark.parametrize(
    "run",
    [
        FORMULA,
        ("▁ATG", "CG", "TAC", "G", "TTA", "GCCA"),
        tuple("for(i=0;i<n;i++)a[i]=0;"),
        ("▁ATG", "CG", "TAC", "G", "TTA", "GCCA") * 9,
    ],
)
def test_tokens_that_no_white_space_separates_are_no_word(run: tuple[str, ...]) -> None:
    words = whole_words((*run, "</s>"))
    assert words.groups == tuple((position,) for position in range(len(run) + 1))
    assert "".join(words.labels) == "".join(run).replace("▁", "") + "</s>"
    assert has_runs(run)


def test_special_tokens_are_left_out_but_not_words_that_look_like_them() -> None:
    axis = Axis(("<s>", "</s>", "</s>"), ((0,), (1, 2, 3), (4,)))
    assert axis.without_special_tokens() == Axis(("</s>",), ((1, 2, 3),))
    assert single_tokens(TOKENS).without_special_tokens().labels == TOKENS[1:-1]


def test_values_between_words_equal_plain_loops() -> None:
    values, words = torch.rand(2, 12, 12), whole_words(TOKENS)
    result = between(values, words, words)
    for head in range(2):
        for i, rows in enumerate(words.groups):
            for j, columns in enumerate(words.groups):
                expected = sum(values[head, r, c].item() for r in rows for c in columns) / len(rows)
                assert result[head, i, j].item() == pytest.approx(expected, abs=1e-5)


def test_a_row_of_a_decoder_is_named_by_what_it_reads_and_what_it_writes() -> None:
    read = single_tokens(("<s>", "▁weil", "▁es"))
    rows = read.named_by_what_follows(read, ("▁weil", "▁es", "</s>"))
    assert rows.labels == ("<s> → ▁weil", "▁weil → ▁es", "▁es → </s>")
    shown = read.without_special_tokens({"<s>"})
    assert shown.named_by_what_follows(read, ("▁weil", "▁es", "</s>")).labels == rows.labels[1:]


def test_the_rows_that_write_a_word_are_those_before_each_of_its_tokens() -> None:
    target = whole_words(("<s>", "▁Ti", "er", "▁war", "▁mü", "de", "</s>"))
    rows = target.as_rows_that_write(target)
    assert rows.labels == ("<s> → Tier", "Tier → war", "war → müde", "müde → </s>")
    assert rows.groups == ((0, 1), (2,), (3, 4), (5,))
    # Without special tokens the first word keeps its row, and the end has none.
    shown = target.without_special_tokens().as_rows_that_write(target)
    assert (shown.labels, shown.groups) == (rows.labels[:-1], rows.groups[:-1])


SINGLE = tuple((i,) for i in range(6))


def test_runs_leave_out_what_the_template_wrote() -> None:
    roles = ("", "user", "user", "", "user", "assistant")
    runs = [RoleRun("user", 1, 3), RoleRun("user", 4, 5), RoleRun("assistant", 5, 6)]
    assert list(role_runs(roles, SINGLE)) == runs


def test_a_word_has_the_role_of_its_first_token_that_has_one() -> None:
    assert role_runs(("", "user", "user", ""), ((0, 1), (2,), (3,))) == (RoleRun("user", 0, 2),)


@pytest.mark.parametrize("roles", [("user",), ("user", "tool"), ("user", None), ("user", ["user"])])
def test_roles_that_are_none_or_too_few_are_an_error(roles: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="role"):
        check_roles(roles, 2)
