"""What a person has chosen: the selection, its URL, the session that holds it, and the catalogue of models.

Knows nothing of models beyond their names, nor of what a page shows."""
