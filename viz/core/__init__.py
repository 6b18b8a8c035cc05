"""Building blocks: theme, HTML, numbers, names of sites, caches, background jobs.

Knows nothing of models, of pages or of what a person has chosen.
"""
