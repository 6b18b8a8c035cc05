"""The tab in which a head's attention is changed at a step."""
