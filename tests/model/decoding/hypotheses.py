"""Hypotheses as a test compares them."""

from model.decoding.beam import Hypothesis


def plain(hypotheses: list[Hypothesis]) -> list[tuple[list[int], float]]:
    return [(one.token_ids, one.log_prob) for one in hypotheses]
