"""Plotly figures that several pages use, pure: the same arrays in, the same figure out.

Knows nothing of Streamlit, models or traces: what numbers mean is passed in.
"""
