"""Check the shapes that types name while tests run; plain types, of which there are far more, mypy has checked.

`--jaxtyping-packages` (pyproject.toml) says in which modules; imported before them, this says which of their functions.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import partial, wraps
from inspect import isclass
from typing import Any, Final, get_args

import jaxtyping

LAYERS: Final = "model.nn."
_check: Final = jaxtyping.jaxtyped
_checked_layers: Final[list[bool]] = [False]


@contextmanager
def layers_checked() -> Iterator[None]:
    """Check the layers too: at every call they would make the whole suite half as slow again."""
    _checked_layers[0] = True
    yield
    _checked_layers[0] = False


def names_shape(annotation: object) -> bool:
    """Whether a type is an array's with its shape, or holds one."""
    if isinstance(annotation, str):
        return "Tensor" in annotation or "ndarray" in annotation
    if isclass(annotation) and issubclass(annotation, jaxtyping.AbstractArray):
        return True
    return any(names_shape(part) for part in get_args(annotation))


def _of_shapes(checked: Any = None, *, typechecker: Any) -> Any:
    """As `jaxtyping.jaxtyped`, of functions and classes whose types name a shape."""
    if checked is None:
        return partial(_of_shapes, typechecker=typechecker)
    annotations = getattr(checked, "__annotations__", {})
    if not any(names_shape(annotation) for annotation in annotations.values()):
        return checked
    if not checked.__module__.startswith(LAYERS):
        return _check(checked, typechecker=typechecker)
    if isclass(checked):
        if is_dataclass(checked):
            checked.__init__ = _in_tests_of_layers(checked.__init__, typechecker)  # type: ignore[method-assign]
        return checked
    return _in_tests_of_layers(checked, typechecker)


def _in_tests_of_layers(unchecked: Callable[..., Any], typechecker: Any) -> Callable[..., Any]:
    checked: Callable[..., Any] = _check(unchecked, typechecker=typechecker)

    @wraps(unchecked)
    def call(*given: Any, **named: Any) -> Any:
        return (checked if _checked_layers[0] else unchecked)(*given, **named)

    return call


jaxtyping.jaxtyped = _of_shapes  # type: ignore[assignment]
