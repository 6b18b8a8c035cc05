"""The masks as the model used them, and how it knows positions."""
