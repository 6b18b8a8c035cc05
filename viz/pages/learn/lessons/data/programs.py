"""The program of each lesson, ten lines of PyTorch, and the answers of exercises: computed, or lines of the program."""

import inspect
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from jaxtyping import Bool

from model.analysis import ten_lines
from viz.pages.learn.lessons.data.formulas import FORMULAS
from viz.pages.learn.lessons.lesson import Check, LessonFileError

#: Lesson → its program.
PROGRAMS: Final[Mapping[str, Callable[..., object]]] = {
    "one-sentence": ten_lines.translate,
    "look-up": ten_lines.look_up,
    "scaled-dot-product": ten_lines.scaled_dot_product_attention,
    "many-heads": ten_lines.multi_head_attention,
    "three-attentions": ten_lines.masked_weights,
    "feed-forward": ten_lines.feed_forward,
    "embeddings": ten_lines.embed_and_predict,
    "positions": ten_lines.positional_encoding,
    "why-attention": ten_lines.recurrent_layer,
    "loss": ten_lines.smoothed_loss,
    "training": ten_lines.adam,
    "decoding": ten_lines.beam_search,
    "ablations": ten_lines.without_head,
    "it": ten_lines.query_or_keys,
    "often-said": ten_lines.added_norms,
}
_IMPORTS: Final = {
    "Callable[": "from collections.abc import Callable\n",
    "torch.": "import torch\n",
    "Tensor": "from torch import Tensor\n",
}


def program(lesson: str) -> str:
    """The program of a lesson as it can be copied and run, with what it imports; "" for none."""
    if lesson not in PROGRAMS:
        return ""
    source = inspect.getsource(PROGRAMS[lesson])
    return "".join(line for name, line in _IMPORTS.items() if name in source) + "\n\n" + source


def changed(lesson: str, check: Check) -> tuple[str, int]:
    """A lesson's program with a line changed, and which line it is, from 1.

    Raises a LessonFileError if the line is not there exactly once.
    """
    lines = program(lesson).splitlines()
    found = [at for at, line in enumerate(lines) if line.strip() == check.given["line"]]
    if len(found) != 1:
        raise LessonFileError(
            f"{lesson}, check: the line {check.given['line']!r} is {len(found)} times in its program."
        )
    (at,) = found
    lines[at] = lines[at].replace(check.given["line"], check.given["bug"])
    return "\n".join(lines), at + 1


def value(check: Check) -> float:
    """The right value of an exercise, from its formula."""
    return float(FORMULAS[check.given["of"]](*check.given["numbers"])[check.given["answer"]])


def allowed(check: Check) -> Bool[np.ndarray, "query key"]:
    """What each position of a decoder may attend to, where the last ones are padding (§3.2.3)."""
    tokens, padding = check.given["tokens"], check.given["padding"]
    seen = np.tril(np.ones((tokens, tokens), bool))
    seen[:, tokens - padding :] = False
    return seen
