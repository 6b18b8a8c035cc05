"""The program that `chat_template` runs: render a chat under limits by the library's own function."""

import json
import sys
from typing import Any

from model.adapters.limited_process import first_words, serve


def texts_of(asked: dict[str, Any]) -> dict[str, Any]:
    """What the template makes of each of the chats, or what is wrong."""
    from jinja2.exceptions import TemplateError
    from transformers.utils.chat_template_utils import render_jinja_template

    def render(chat: Any) -> str:
        goes_on = asked["goes_on"]
        # The library's annotation says a text; it is a list of texts, and another of places.
        made: Any = render_jinja_template(
            [chat],
            chat_template=asked["template"],
            continue_final_message=goes_on,
            add_generation_prompt=not goes_on,
            **asked["variables"],
        )
        return str(made[0][0])

    chat, marked = asked["chats"]
    try:
        text = render(chat)
    except TemplateError as error:
        # `raise_exception` of a template raises the base itself; what is derived from it is a fault.
        return {"says" if type(error) is TemplateError else "wrong": first_words(error)}
    longest = asked["longest"]
    if len(text) > longest:
        return {"wrong": f"it makes a text of {len(text):,} characters, and at most {longest:,} can be read"}
    try:
        with_marks = render(marked)
    except Exception:
        # A template may look into the contents; whose the characters are is then not known.
        with_marks = ""
    return {"texts": [text, with_marks[: 2 * longest]]}


if __name__ == "__main__":
    # A template needs no torch, which takes seconds to import and most of the memory.
    sys.modules["torch"] = None  # type: ignore[assignment]
    serve(lambda: texts_of(json.loads(sys.stdin.buffer.read())))
