"""What a widget calls when a person changes it."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from streamlit.runtime.scriptrunner import RerunException

Given = ParamSpec("Given")


def whole(callback: Callable[Given, None]) -> Callable[Given, None]:
    """Done to its end, though Streamlit cuts it short for a run that waits.

    It may do so at any use of `st.session_state`, and does not call the callback anew: what a person chose would be
    lost. A callback must be one that may be begun twice.
    """

    @wraps(callback)
    def done(*args: Given.args, **kwargs: Given.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except RerunException:
            # The run that waits begins afterwards.
            done(*args, **kwargs)
            raise

    return done
