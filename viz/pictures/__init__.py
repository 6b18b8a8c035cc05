"""Canvas components that several pages use, over the ES modules in `shared`.

Knows nothing of traces, sites or pages: what numbers mean is passed in.
"""
