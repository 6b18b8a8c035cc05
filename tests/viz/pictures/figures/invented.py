"""Invented weights, and what a figure tells of them."""

import plotly.graph_objects as go
from plotly.graph_objs._heatmap import Heatmap


def heatmap_of(figure: go.Figure) -> Heatmap:
    return figure.data[0]
