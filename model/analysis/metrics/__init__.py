"""Measure what a head does: metrics, norms, rollout, alignment, and the derivation of one row of weights."""
