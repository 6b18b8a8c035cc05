"""The small decoder that ships: the heads that are known light up, and they are the cause of what it says."""

import random
import string

import numpy as np
import pytest
import torch

from model.adapters.text_writer import TextWriter
from model.analysis.atlas.file import load_atlas
from model.analysis.atlas.measure import digest_of
from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.analysis.metrics.head_jobs import jobs_of_heads
from model.analysis.metrics.repeated_tokens import SITE, repeated_tokens
from model.opening import open_reader
from tests.paths import ROOT

FOLDER = ROOT / "checkpoints" / "induction"
#: Of the list of all heads: the one that looks at the token before, and the four of the second layer.
PREVIOUS, SECOND_LAYER = 0, slice(4, 8)


@pytest.fixture(scope="module")
def reader() -> TextWriter:
    reader = open_reader(FOLDER, device="cpu")
    assert isinstance(reader, TextWriter)
    return reader


@pytest.fixture(scope="module")
def found(reader: TextWriter) -> dict[str, torch.Tensor]:
    return repeated_tokens(reader, draws=2, seed=7)


def test_one_head_looks_at_the_token_before_and_the_second_layer_at_what_followed(
    found: dict[str, torch.Tensor],
) -> None:
    assert float(found["repeat_previous"][PREVIOUS]) > 0.95
    assert float(found["repeat_previous"][1:].max()) < 0.2
    assert float(found["prefix_matching"][SECOND_LAYER].min()) > 0.9
    assert float(found["prefix_matching"][:4].max()) < 0.1
    assert float(found["copying"][SECOND_LAYER].min()) > 0.95


def test_it_goes_on_with_whatever_came_before(reader: TextWriter) -> None:
    draw = random.Random(3)
    right = 0
    for _ in range(20):
        text = "".join(draw.sample(string.ascii_letters, 16))
        session = reader.decode(f"{text} {text[:5]}")
        for _ in range(8):
            session.step()
        right += session.translation.startswith(text[5:13])
    assert right >= 19


def test_the_head_that_looks_back_is_the_cause_and_works_through_the_second_layer_only(reader: TextWriter) -> None:
    a = reader.word_choice("qsxk wnvb. qsx", "k", "b")
    b = reader.word_choice("qsxb wnvk. qsx", "k", "b")
    effects = measure_effects(reader, [a])
    assert float(effects.intact[0]) > 5
    assert float(effects.changes[0, PREVIOUS]) < -5
    pair = ChoicePair(a, b)
    direct, whole = patch_paths(reader, [pair]).overall, patch_heads(reader, [pair]).overall
    assert float(direct[:4].abs().max()) < 0.05
    assert float(direct[SECOND_LAYER].sum()) > 0.7
    torch.testing.assert_close(direct[SECOND_LAYER], whole[SECOND_LAYER], atol=1e-3, rtol=0)
    assert float(whole[:4].max()) > 0.5


def test_the_atlas_beside_it_is_of_this_model_and_names_its_heads(
    reader: TextWriter, found: dict[str, torch.Tensor]
) -> None:
    atlas = load_atlas(FOLDER / "atlas.npz")
    assert atlas.model == digest_of(reader)
    assert len(atlas.texts) == 200
    np.testing.assert_allclose(atlas.metrics["prefix_matching"][1].ravel(), found["prefix_matching"].numpy(), atol=0.05)
    metrics, intervals = ({name: table[1] for name, table in of.items()} for of in (atlas.metrics, atlas.intervals))
    jobs = jobs_of_heads(SITE, metrics, intervals)
    assert jobs[0, 0][0].metric == "previous"
    assert {job.metric for job in jobs[1, 1]} >= {"induction", "prefix_matching"}
