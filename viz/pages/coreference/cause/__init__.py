"""The tab in which heads are switched off or patched."""
