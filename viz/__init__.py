"""What people see: pure figures, canvas components, thin pages, and the state that joins them.

Imports point from `app` to `viz` to `model`. Only `viz.access.loader` touches torch, and only when a page asks it to.
"""
