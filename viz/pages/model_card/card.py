"""A section of a checkpoint's card, as plain paragraphs."""

from collections.abc import Iterator

from viz.text.messages import said

#: The section that says what a model can and cannot do.
LIMITS = said("What to expect")


def section(card: str, title: str) -> list[str]:
    """The paragraphs under a heading of any level, up to the next heading; lines that were broken are joined again.

    There are none where the card has no such heading.
    """
    return [
        " ".join(paragraph.split()) for paragraph in "\n".join(_lines(card, title)).split("\n\n") if paragraph.strip()
    ]


def _lines(card: str, title: str) -> Iterator[str]:
    inside = fenced = False
    for line in card.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            inside = line.strip("# ").lower() == title.lower()
        elif inside:
            yield line.strip()
