"""The tab with heads as points, near ones of which look alike."""
