"""The way from the pages to the model: loading, traces, and what is derived from a trace.

Torch is imported inside functions. Knows nothing of widgets."""
