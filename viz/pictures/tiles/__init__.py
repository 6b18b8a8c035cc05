"""Tiles sent to the browser ahead of the picture that shows them, or as it asks for them."""
