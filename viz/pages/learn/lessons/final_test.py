"""The final test: twenty questions drawn from a pool over all lessons. A seed in the address says which.

The pool is `pool/`, a TOML file for each lesson, whose steps have a question and are otherwise as those of a lesson. A
drawn test is a `Lesson`, so that it is shown, answered and asked of a class as the others are.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import Final

from viz.pages.learn.lessons.lesson import Lesson, Step, content_of, lessons, step_of
from viz.text.messages import said

POOL: Final = Path(__file__).parent / "pool"
#: How many are drawn; of each lesson one at least.
QUESTIONS: Final = 20
#: Seeds are below this.
SEEDS: Final = 1_000_000
_NAME: Final = re.compile(r"final-test-(\d{1,6})")


@cache
def pool() -> Mapping[str, tuple[Step, ...]]:
    """Lesson → its questions. Raises a LessonFileError if a file is not as it should be."""
    found: dict[str, tuple[Step, ...]] = {}
    for path in sorted(POOL.glob("*.toml")):
        name = path.stem.partition("_")[2].replace("_", "-")
        entries = content_of(path)["steps"]
        for entry in entries:
            entry["question"] = {"answer": "", **entry["question"]}
        also = {"title": lessons()[name].title, "text": "", "view": "nothing"}
        found[name] = tuple(step_of(f"{path.name}, question {at}", also | one) for at, one in enumerate(entries, 1))
    return found


def name_of(seed: int) -> str:
    """The name of a test in addresses."""
    return f"final-test-{seed}"


@lru_cache(100)
def drawn(seed: int) -> Lesson:
    """The test of a seed: its questions in the order of the lessons."""
    generator = Random(seed)
    every = [(name, at) for name, steps in pool().items() for at in range(len(steps))]
    chosen = {generator.choice([place for place in every if place[0] == name]) for name in pool()}
    chosen |= set(generator.sample([place for place in every if place not in chosen], QUESTIONS - len(chosen)))
    steps = tuple(pool()[name][at] for name, at in every if (name, at) in chosen)
    return Lesson(name_of(seed), said("Final test"), said("All lessons"), steps)


def course(name: str) -> Lesson | None:
    """The lesson or the test of a name in an address; None where there is none."""
    match = _NAME.fullmatch(name)
    return drawn(int(match[1])) if match else lessons().get(name)


def is_test(lesson: Lesson) -> bool:
    """Whether it is a final test."""
    return _NAME.fullmatch(lesson.name) is not None
