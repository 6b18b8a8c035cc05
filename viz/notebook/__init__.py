"""Headlight's pictures in a notebook: every head as a grid, heads as lines, a translation as a film, and why.

    from viz.notebook import film, heads, lines, save, why

    trace = translator.trace("The animal didn't cross the street because it was too tired.")
    heads(trace, "decoder.cross")
    why(trace, translator)

The same components as on the pages, drawn by the browser, offline; in JupyterLab, Jupyter Notebook and VS Code. For
that they need `pip install -r viz/notebook/requirements.txt`; without it a cell shows a still, and `save` works.
"""

from viz.notebook.pictures import Picture, film, heads, lines, save
from viz.notebook.reasons import why

__all__ = ["Picture", "film", "heads", "lines", "save", "why"]
