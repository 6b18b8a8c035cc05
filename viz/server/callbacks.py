"""What a widget calls when a person has used it is called, and runs to its end.

Once another run waits, Streamlit 1.67 ends a run at its next use of `st.session_state`: also before it has called any
callback, and within one, which it then takes for done. The run that waits brings the values of fields, but neither a
press on a button nor what a component triggered. So a press was lost that another message followed within some 20 ms.
"""

from functools import wraps
from typing import Any

from streamlit.runtime.state import SafeSessionState


def _is_no_time_to_end() -> None:
    """In place of what ends a run for the one that waits."""


def run_to_their_end() -> None:
    """From now on, the run that waits begins when all callbacks of the one before it are done."""
    given = SafeSessionState.on_script_will_rerun
    if hasattr(given, "__wrapped__"):
        return

    @wraps(given)
    def undisturbed(session: SafeSessionState, *args: Any, **kwargs: Any) -> None:
        end_if_another_waits = session._yield_callback
        # It has no other attributes than those of its class: all others are the session's values.
        object.__setattr__(session, "_yield_callback", _is_no_time_to_end)
        try:
            given(session, *args, **kwargs)
        finally:
            object.__setattr__(session, "_yield_callback", end_if_another_waits)

    SafeSessionState.on_script_will_rerun = undisturbed  # type: ignore[method-assign, assignment]
