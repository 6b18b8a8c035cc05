"""What people see: pure figures, canvas components, thin pages, and the state that joins them.

Imports point from `app` to `viz` to `model`. torch is loaded when a page asks `viz.access` for a model, not before.
"""
