"""Markdown as people read it, without the links of heads."""

import re


def unlinked(markdown: str) -> str:
    """The same, with the names of heads as text."""
    return re.sub(r"\[([^\]]*)\]\(#head-[^)]*\)", r"\1", markdown)
