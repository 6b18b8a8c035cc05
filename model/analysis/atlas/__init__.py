"""Measure every head over a whole corpus."""
