"""Values of widgets that no browser of ours sends: python -m tests.benchmarks.forged.

For every widget of every tab: labels of a list that is gone, numbers and positions that do not exist, selections of
another form. A browser that has not drawn the newest page yet sends such a label unforged. Whatever comes, the page
keeps its title and shows no traceback.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from tests.benchmarks.hostile import MOST_SECONDS, PAGES
from tests.paths import ROOT
from tests.viz.page_run import folder_of, run_page
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS
from viz.selection.selection import PAGES as KNOWN_PAGES

#: The field of each page that names its open tab.
TABS: Final = dict(zip(PAGES, (page.tab for page in KNOWN_PAGES.values()), strict=True))
STALE: Final = "4 · s"
JSON: Final = (
    "null",
    "[]",
    "3",
    '{"selection": 3}',
    '{"selection": {"points": [3], "rows": ["x"], "point_indices": "x"}}',
    '{"selection": {"points": [{"customdata": [-1, 99999]}], "rows": [-1], "columns": [], "cells": []}}',
    '{"selection": {"points": [{"customdata": [99999, 99999]}], "rows": [99999], "columns": [], "cells": []}}',
    '{"head": {"layer": 99999, "head": -1}, "view": [], "kept": 3, "step": "x", "node": {"node": 99999}}',
)
#: Field of `WidgetState` → what is sent in it.
SENT: Final[dict[str, tuple[Any, ...]]] = {
    "string_value": (STALE, "", *JSON),
    "string_trigger_value": (STALE, ""),
    "string_array_value": ((STALE,), (STALE, "1")),
    "int_value": (-1, 99_999, 2**31),
    "double_value": (-1.0, 1e300, float("nan")),
    "double_array_value": ((-1.0,), (1e300,), (float("nan"),)),
    "int_array_value": ((-1,), (99_999,)),
    "json_value": JSON,
    "json_trigger_value": JSON,
}


@dataclass(frozen=True)
class View:
    """A tab of a page, as an address opens it."""

    page: str
    tab: str

    def opened(self) -> AppTest:
        """The page, drawn."""
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=MOST_SECONDS)
        app.query_params[FIELDS[TABS[self.page]].param] = self.tab
        return run_page(app, folder_of(self.page))


def views() -> Iterator[View]:
    """Every tab of every page."""
    for page, field in TABS.items():
        for tab in FIELDS[field].options:
            yield View(page, tab)


def widgets(app: AppTest) -> dict[str, Any]:
    """Widget → what Streamlit knows of it."""
    return dict(app.session_state._state._state._new_widget_state.widget_metadata)


def send(app: AppTest, *forged: WidgetState) -> None:
    """Run the page with these states of widgets, and those that the others have."""
    widgets = {state.id for state in forged}
    others = [state for state in app._tree.get_widget_states().widgets if state.id not in widgets]
    app._run(WidgetStates(widgets=[*others, *forged]))


def _is_handed_on(deserialize: Callable[[Any], Any], value: Any) -> bool:
    """Whether Streamlit hands a value on to the app, and does not fail at reading it itself."""
    try:
        deserialize(list(value) if isinstance(value, tuple) else value)
    except Exception:
        return False
    return True


def problems_of(view: View, values: Mapping[str, tuple[Any, ...]] = SENT) -> Iterator[tuple[str, str]]:
    """Send all of these values to every widget of a view: what was sent, and what went wrong, or nothing."""
    app = view.opened()
    for widget, known in widgets(app).items():
        kind = known.value_type
        for value in (value for value in values.get(kind, ()) if _is_handed_on(known.deserializer, value)):
            said = f"{view.page} {view.tab!r}: {widget[-40:]} {kind} {value!r}"
            yield said, _problem(app, widget, kind, value, PAGES[view.page][0])
            if app.exception:
                app = view.opened()


def _problem(app: AppTest, widget: str, kind: str, value: Any, title: str) -> str:
    forged = WidgetState(id=widget)
    if kind.endswith("array_value"):
        getattr(forged, kind).data.extend(value)
    elif kind == "string_trigger_value":
        forged.string_trigger_value.data = value
    else:
        setattr(forged, kind, value)
    send(app, forged)
    if app.exception:
        return f"{app.exception[0].value}\n{''.join(app.exception[0].stack_trace)}"
    return "" if [one.value for one in app.title] == [title] else f"titles {[one.value for one in app.title]}"


def main() -> None:
    """All of them, on a small random model."""
    from tests.benchmarks.small import save_small

    with tempfile.TemporaryDirectory() as temporary:
        os.environ[ROOT_VARIABLE] = str(save_small(Path(temporary) / "checkpoints"))
        tried = [one for view in views() for one in problems_of(view)]
    wrong = [f"WRONG: {said}: {problem}" for said, problem in tried if problem]
    print("\n".join([f"{len(tried)} values sent, {len(wrong)} problems", *wrong]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    stopping.leave(main)
