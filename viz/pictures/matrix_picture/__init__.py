"""One matrix as a heatmap that the browser draws, with zoom and exact numbers."""
