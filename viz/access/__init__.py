"""The way from the pages to the model: opening it, running it, and what is derived from a trace.

Nothing here knows of widgets or figures. What brings torch along is asked for by `model.later`, so that a page is on
the screen before torch is in memory. What is cached, for all viewers, is read-only and named by keys, never by arrays.
"""
