"""Read what the browser says of a widget: it may speak of a list or figure that is gone, or say anything at all."""

from collections.abc import Mapping

import streamlit as st


def sent(key: str, *path: str) -> object:
    """What the browser says of the widget with this key, or the value at these names in it; None if there is none."""
    value: object = st.session_state.get(key)
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
