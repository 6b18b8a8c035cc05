"""A session of the app in which a person acts on branches."""

from collections.abc import Callable
from typing import Self

from streamlit.testing.v1 import AppTest

from model import Trace
from tests.patience import PATIENCE
from viz.selection.selection import Selection

TEXT = "Tom was late again."


def studio_page() -> None:
    """As the decoding page: a person does something, then the translation is shown."""
    import streamlit as st

    from viz.pages.decoding import translations
    from viz.selection import notices, state

    state.begin(["en-de"])
    if "do" in st.session_state:
        st.session_state.pop("do")()
    st.session_state["shown"] = translations.shown(st.container())
    st.session_state.setdefault("told", []).extend(notices.sentences(state.current()))
    state.end()


class Viewer:
    """A session of the app; `do` is what a person does in the next run."""

    def __init__(self, **params: str) -> None:
        self.app = AppTest.from_function(studio_page, default_timeout=PATIENCE)
        for name, value in {"text": TEXT, **params}.items():
            self.app.query_params[name] = value
        self.run()

    def run(self, do: Callable[[], object] | None = None) -> Self:
        self.app.session_state["told"] = []
        if do is not None:
            self.app.session_state["do"] = do
        self.app.run()
        assert not self.app.exception, self.app.exception[0].value
        return self

    @property
    def shown(self) -> Trace:
        return self.app.session_state["shown"]

    @property
    def notices(self) -> list[str]:
        return self.app.session_state["told"]

    @property
    def selection(self) -> Selection:
        return self.app.session_state["selection"]

    @property
    def ids(self) -> list[int]:
        return [step.token_id for step in self.shown.steps]
