"""Write down when a server imports its libraries and calls its main functions: for `first_picture`, by PYTHONPATH.

Python imports a module of this name by itself as it starts. Each line of the file that HEADLIGHT_SPANS names is
`begin end name`, in seconds of the wall clock; what a span spends inside another one counts for both.
"""

import importlib.abc
import importlib.machinery
import os
import sys
import time
from collections.abc import Sequence
from functools import wraps
from types import ModuleType
from typing import Any, Final

#: Modules whose import is timed, → the functions in them whose calls are.
WATCHED: Final[dict[str, Sequence[str]]] = {
    "streamlit": (),
    "torch": (),
    "transformers": (),
    "sentencepiece": (),
    "numpy": (),
    "plotly.basedatatypes": (),
    "streamlit.runtime.scriptrunner.exec_code": ("exec_func_with_error_handling",),
    "model.opening": ("open_reader",),
    "model.checkpoint": ("verify",),
    "model.analysis.atlas.file": ("load_atlas",),
    "viz.server.bundle": ("script",),
    "viz.access.traces": ("_decoded",),
    "viz.access.findings": ("finding",),
    "viz.pages.attention.all_heads.tab": ("_show_pictures",),
    "viz.pages.attention.all_heads.grid": ("send", "draw"),
    "viz.pages.attention.opened_head.panel": ("show",),
}
_FILE: Final = os.environ["HEADLIGHT_SPANS"]


def note(begin: float, name: str) -> None:
    """One span, which ends now."""
    with open(_FILE, "a", encoding="utf-8") as file:
        file.write(f"{begin} {time.time()} {name}\n")


class _Timed(importlib.abc.Loader):
    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        created: ModuleType | None = self.loader.create_module(spec)
        return created

    def exec_module(self, module: ModuleType) -> None:
        began = time.time()
        assert module.__spec__ is not None
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        note(began, f"import {module.__name__}")
        for name in WATCHED[module.__name__]:
            setattr(module, name, _watched(getattr(module, name), f"{module.__name__}.{name}"))


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name in WATCHED else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Timed(spec.loader)
        return spec


def _watched(function: Any, name: str) -> Any:
    @wraps(function)
    def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.time()
        try:
            return function(*args, **kwargs)
        finally:
            note(began, name)

    return timed


sys.meta_path.insert(0, _Finder())
note(time.time(), "python")
