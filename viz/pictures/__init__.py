"""Pictures that several pages use, and what they need: canvas components over the ES modules in `shared`, plotly
figures, the protocol between Python and the browser, and the writer of pages that open offline.

Knows nothing of traces or pages: what numbers mean is passed in.
"""
