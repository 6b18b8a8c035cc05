"""The tab with live switches: parts taken out of the trained translator, and what becomes of its translations."""
