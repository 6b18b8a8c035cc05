"""The table of effects."""

import csv

import torch

from model.analysis.interventions.head_effects import HeadEffects
from viz.access import models
from viz.pages.coreference.cause import tables
from viz.pages.coreference.cause.data.asked import all_heads
from viz.selection.selection import Selection


def test_the_table_of_effects_holds_the_figures_of_every_head(chosen: Selection) -> None:
    heads = all_heads(models.translator(chosen.model))
    changes = torch.arange(float(len(heads)))[None]
    off = HeadEffects(intact=torch.zeros(1), changes=changes)
    rows = list(csv.DictReader(tables.effects(off, off, heads).decode("utf-8-sig").splitlines()))
    assert [float(row["mean_change"]) for row in rows] == list(range(24))
    assert (rows[-1]["site"], rows[-1]["layer"], rows[-1]["head"]) == ("decoder.cross", "1", "3")
