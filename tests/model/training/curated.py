"""Curated sentences."""

import re


def pattern_of(template: str) -> re.Pattern[str]:
    """Matches every sentence that a template gives, whatever stands in its slots; `*` is an opening."""
    parts = re.split(r"\{[^}]*\}|\*", template)
    return re.compile("(.+)".join(map(re.escape, parts)), re.IGNORECASE)
