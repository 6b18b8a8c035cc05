"""Messages and lessons use the field's terms in the order subject, verb, object; `GLOSSARY.md` has the terms."""

import re
from collections.abc import Iterator
from typing import Final

import pytest

from viz.locale.extraction import template

#: What is not to be read in a message, and what is written instead.
PATTERNS: Final = {
    r"(?<!here )\b(?:is|are|was|were) no (?!longer)": "is not a …",
    r"\banew\b": "again",
    r"\bbeside\b": "next to, with",
    r"\b(?:stands?|stood)\b": "is, comes, occurs, refers to",
    r"\b(?:lies?|lying)\b": "is",
    r"\bholds? (?!for\b|back\b)(?:a|an|no|the|only|its|more|at most|\{|[0-9])": "contains, has",
    r"(?:^|[.;:] )(?:Asked|Compared|Counted|Drawn|Found|Kept|Marked|Measured|Named|Nearest|Shown) (?:is|are)\b": (
        "the subject first"
    ),
    r"\blook(?:s|ed|ing)? (?:at|back|elsewhere)\b": "attends to",
    r"\b(?:known|recorded|measured|shown|read|told) of\b": "… for",
    r"\bso (?:large|long|many|short|small) an?\b": "such a …",
    r"\bputs? out\b": "outputs",
    r"\btold apart\b": "within seed noise",
    r"\bpieces?\b(?!\})": "token",
    r"\b[Gg]reedy search\b": "greedy decoding",
    r"\b(?:likest|likeliest|surer|surest)\b": "most similar, most probable, confident",
    r"\bone a (?:line|row)\b|\b(?:bar|head|line|one|row|tile) a (?:head|key|layer|sentence|step|token)\b": "one per …",
    r"\b(?:any|no)body\b": "the subject",
    r"\d %": "a number and % without a space",
    r"\b[Mm]end(?:s|ed)?\b": "fix",
}
#: A text that has a pattern for a reason: a quotation, what a sentence is about, a name of the field.
ALLOWED: Final = frozenset({
    "Without the penalty the beam returns “{text_0}”, {tokens_0} tokens including the end of the sentence, and nobody "
    "carries the stick.",

})  # fmt: skip


def texts() -> Iterator[str]:
    """Every text of the app once, on one line."""
    for message in template():
        if message.id:
            for text in [message.id] if isinstance(message.id, str) else message.id:
                yield " ".join(text.split())


TEXTS: Final = tuple(texts())


@pytest.mark.parametrize(("pattern", "better"), PATTERNS.items(), ids=list(PATTERNS))
def test_no_message_has_a_word_that_another_says_better(pattern: str, better: str) -> None:
    found = [text for text in TEXTS if re.search(pattern, text) and text not in ALLOWED]
    assert not found, f"{better}: {found}"


def test_what_is_allowed_is_said_and_would_else_be_found() -> None:
    assert set(ALLOWED) <= set(TEXTS)
    assert [text for text in ALLOWED if not any(re.search(pattern, text) for pattern in PATTERNS)] == []


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        ("{name} is no model", True),
        ("There is no folder {name}", False),
        ("It is no longer here", False),
        ("Drawn are the {n} strongest", True),
        ("The {n} strongest are shown", False),
        ("One bar a key", True),
        ("One bar per key", False),
        ("This head looks at the first token", True),
        ("This looks like {language}", False),
        ("{pieces}", False),
        ("95 % interval", True),
        ("95% interval", False),
    ],
)
def test_patterns_find_what_they_are_for(text: str, is_refused: bool) -> None:
    assert any(re.search(pattern, text) for pattern in PATTERNS) == is_refused
