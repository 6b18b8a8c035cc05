"""The tab with bertviz's own views, offline."""
