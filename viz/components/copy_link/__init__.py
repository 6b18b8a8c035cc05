"""A button that copies a link to what is shown."""
