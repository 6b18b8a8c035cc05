"""Headlight's pictures in a notebook: `pip install 'headlight[notebook]'` brings what they need besides."""

from headlight.viz.notebook import Picture, film, heads, lines, save, why

__all__ = ["Picture", "film", "heads", "lines", "save", "why"]
