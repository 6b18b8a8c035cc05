"""What a server of many viewers needs: background jobs, limits, caches, memory, scripts as files, widget values."""
