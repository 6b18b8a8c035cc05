"""The tab on training: what every head attended to at some steps of it, as a film with curves."""
