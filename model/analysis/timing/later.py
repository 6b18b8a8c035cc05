"""The modules of sounds and of word times, each imported when it is first asked for, as those of `model.later`."""

# Imported for whoever asks for them.
# mypy: implicit-reexport
# ruff: noqa: F401

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.analysis.timing import recordings, scores, subtitles, transcript, word_times
    from model.sources import sound_file
else:
    from model.later import imported_later

    __getattr__ = imported_later(__name__)
