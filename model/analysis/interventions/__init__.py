"""Measure what changes when heads are switched off, edited or patched."""
