"""What several tests ask of the curriculum."""

import re

from model.training.lexicon import FRAMES, HELD_OUT_FRAMES, SLOT

ALL_FRAMES = [*FRAMES["train"], *HELD_OUT_FRAMES]
FRAME = {frame.name: frame for frame in ALL_FRAMES}


def words_around_slots(english: str) -> str:
    return SLOT.sub("_", english)


def pattern_of(template: str) -> re.Pattern[str]:
    """Matches every sentence that a template gives, whatever stands in its slots; `*` is an opening."""
    parts = re.split(r"\{[^}]*\}|\*", template)
    return re.compile("(.+)".join(map(re.escape, parts)), re.IGNORECASE)
