"""Components that draw and react in the browser: the grid of heads and the decode player.

Each is one Python file (what a page calls), one script and one style sheet, without a build step. `wire` is how data
reaches them. Nothing in here knows torch, the model or the pages.
"""
