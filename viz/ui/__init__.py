"""What is around every figure: page frame, sidebar, controls, downloads, progress of long work.

Knows nothing of what a single page shows: what can be chosen and what is computed is passed in.
"""
