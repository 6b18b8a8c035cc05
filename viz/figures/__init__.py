"""Plotly figures that several pages use, pure: the same arrays in, the same figure out."""
