"""Building blocks that know nothing of attention, models or pages: theme, HTML, numbers, caches, background jobs."""
