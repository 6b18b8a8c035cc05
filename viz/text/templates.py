"""Fill Jinja2 templates of HTML, which are files beside the code that fills them.

A value is escaped unless it is markup of ours, its control characters become visible signs, and a message is in the
language of the page run. `_` and `plural` are those of `viz.text.messages`, whose catalogues find the texts of
templates.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from viz.text import messages
from viz.text.html import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_ROOT = Path(__file__).parents[1]


def filled(path: str, **values: object) -> "Markup":
    """The template at a path below `viz`, with these values. Raises a jinja2.UndefinedError if one is missing."""
    from markupsafe import Markup

    return Markup(_environment().get_template(path).render(values))


@cache
def _environment() -> "Environment":
    """How all templates are filled. Jinja2 is imported with the first."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_ROOT),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_as_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"_": messages._, "plural": messages.plural}
    return environment


def _as_text(value: object) -> object:
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
