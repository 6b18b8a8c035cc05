"""Join sentences, and the members of a list, as the language of the page run does: with its commas, spaces and words.

Knows nothing of what is joined.
"""

from collections.abc import Callable, Iterable
from functools import reduce

from viz.text.messages import _, shown


def in_a_row(sentences: Iterable[str]) -> str:
    """Sentences one after the other; those that are empty are left out."""
    return _joined(sentences, lambda before, last: _("{before} {sentence}", before=before, sentence=last))


def with_commas(members: Iterable[str]) -> str:
    """Members of a list: "a, b, c"."""
    return _joined(members, lambda before, last: _("{before}, {last}", before=before, last=last))


def with_and(members: Iterable[str]) -> str:
    """Members that are all meant: "a and b"."""
    return _joined(members, lambda before, last: _("{before} and {last}", before=before, last=last))


def clauses_with_and(clauses: Iterable[str]) -> str:
    """What is so, and what is so too: "A keeps it and B takes it"."""
    return _joined(clauses, lambda before, last: _("{before} and {clause}", before=before, clause=last))


def with_or(members: Iterable[str]) -> str:
    """Members of which one is meant: "a or b"."""
    return _joined(members, lambda before, last: _("{before} or {last}", before=before, last=last))


def _joined(parts: Iterable[str], both: Callable[[str, str], str]) -> str:
    said_now = [text for part in parts if (text := shown(part))]
    return reduce(both, said_now) if said_now else ""
