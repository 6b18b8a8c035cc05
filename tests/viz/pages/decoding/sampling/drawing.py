"""Samples drawn, and the cards on the page."""

from model import SampledTranslation
from tests.viz.pages.decoding.opening import TEXT
from viz.access import models
from viz.pages.decoding.data import searches
from viz.selection.selection import Selection
from viz.ui import long_work


def drawn(token_ids: tuple[int, ...], text: str = "x") -> SampledTranslation:
    return SampledTranslation(
        token_ids=token_ids, log_probs=(-1.0,) * len(token_ids), filtered_log_probs=(-0.5,) * len(token_ids), text=text
    )


def samples_of(selection: Selection) -> tuple[SampledTranslation, ...]:
    return long_work.in_this_thread(searches.drawing(models.writer(selection.model), TEXT, selection.decoding))
