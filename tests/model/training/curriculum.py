"""What several tests ask of the curriculum."""

from model.training.lexicon import FRAMES, HELD_OUT_FRAMES, SLOT

ALL_FRAMES = [*FRAMES["train"], *HELD_OUT_FRAMES]
FRAME = {frame.name: frame for frame in ALL_FRAMES}


def words_around_slots(english: str) -> str:
    return SLOT.sub("_", english)
