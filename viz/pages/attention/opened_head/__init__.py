"""One head, opened: as a heatmap, as lines, or over a picture."""
