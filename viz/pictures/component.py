"""A component that the browser draws: declared by the ES module of its script, shown with a dataclass."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from viz.pictures import payload
from viz.server import scripts
from viz.server.widgets import sent


def ignore(value: object) -> None:
    """Do nothing. Streamlit keeps a state only if a callback is registered for it."""


class Component:
    """A component by its script, whose class names the element that it draws into: `head_grid.js` into `.head-grid`.

    Script and style sheet are paths in `viz`; without a style sheet the component shows nothing and is hidden.
    """

    def __init__(self, script: str, style: str | None = None) -> None:
        self.script, self.style = script, style
        name = PurePosixPath(script).stem
        self.element = name.replace("_", "-")
        hidden = " hidden" if style is None else ""
        self._renderer = st.components.v2.component(
            f"headlight_{name}",
            html=f'<div class="{self.element}"{hidden}></div>',
            css=None if style is None else scripts.styles(style),
            js=scripts.script(script),
        )

    def show(
        self,
        content: object,
        *arrays: NDArray[np.generic],
        key: str,
        width: Any = "stretch",
        more: Mapping[str, object] | None = None,
        **answers: Callable[[object], None],
    ) -> Any:
        """Show the component, as `payload.pack` packs it, with the texts of its script in the language of the page run.

        `answers`: by the name of a trigger or a state, what is called before the next run with what the browser says.
        Returns what Streamlit's component returns.
        """
        packed = payload.pack(content, *arrays, **(more or {}))
        callbacks: dict[str, Any] = {
            f"on_{name}_change": partial(_answer, take, key, name) for name, take in answers.items()
        }
        return self._renderer(
            data=payload.with_language(packed, scripts.language_of(self.script)),
            key=key,
            width=width,
            height=1 if self.style is None else "content",
            **callbacks,
        )


def _answer(take: Callable[[object], None], key: str, name: str) -> None:
    take(sent(key, name))
