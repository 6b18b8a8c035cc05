"""Sentences that say what the scores say."""

from dataclasses import replace

import pytest
import torch

from model.analysis.coreference.measure import CoreferenceScores
from model.analysis.metrics.head_names import LayerHead
from viz.pages.coreference import findings


@pytest.mark.parametrize(("low", "said"), [(0.02, "A head beats"), (-0.01, "No head reliably beats")])
def test_the_verdict_follows_the_interval_of_the_gain(scores: CoreferenceScores, low: float, said: str) -> None:
    site = scores.sites["encoder.self"]
    sure = [
        replace(one, gain=replace(one.gain, value=torch.tensor(0.1), low=torch.tensor(low))) for one in site.held_out
    ]
    assert site.held_out
    verdict = findings.verdict(replace(site, held_out=tuple(sure)))
    assert said in verdict
    assert ("so they are not equally good" in verdict) == (low > 0)


def test_heads_are_named_from_one_and_rollout_names_layers(scores: CoreferenceScores) -> None:
    site = scores.sites["encoder.self"]
    assert findings.head_name(site, *LayerHead(1, 2)) == "L2 H3"
    assert findings.head_name(replace(site, measure="rollout"), 1, 0) == "L2, all heads"


def test_the_summary_says_what_the_scores_say(scores: CoreferenceScores) -> None:
    lines = {what: (encoder, cross) for what, encoder, cross in findings.summary(scores)}
    nearest = scores.sites["encoder.self"].baselines.nearest
    assert lines["Nearest candidate"][0] == f"{100 * nearest:.1f}%"
    first, second = sorted(scores.sites["encoder.self"].held_out, key=lambda one: one.chosen_on)
    for half, one in (("first", first), ("second", second)):
        head = f"L{one.head.layer + 1} H{one.head.head + 1}"
        share = f"{100 * float(one.accuracy.value):.1f}%"
        assert lines[f"Best head of the {half} half, on the other half"][0].startswith(f"{head}: {share}")
    assert scores.contrast is not None
    accuracy = float(scores.contrast.accuracy.value)
    assert lines["The model prefers the right German pronoun"][0].startswith(f"{100 * accuracy:.1f}%")


def test_the_first_sentence_names_a_head_only_where_it_beats_the_nearest_noun(scores: CoreferenceScores) -> None:
    site = scores.sites["encoder.self"]

    def verdict(low: float) -> str:
        held_out = tuple(
            replace(
                one,
                head=LayerHead(1, 2),
                accuracy=replace(one.accuracy, value=torch.tensor(0.75)),
                gain=replace(one.gain, low=torch.tensor(low)),
            )
            for one in site.held_out
        )
        return findings.first_sentence(replace(scores, sites={"encoder.self": replace(site, held_out=held_out)}))

    assert "No head reliably follows" in verdict(-0.01)
    assert "L2 H3" in verdict(0.02)
    assert "75.0%" in verdict(0.02)
