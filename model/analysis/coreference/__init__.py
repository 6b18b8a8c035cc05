"""Measure whether heads look from a pronoun to what it stands for."""
