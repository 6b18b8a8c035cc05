"""Test a bar or a word of the tab Why: what a session asked for, the jobs that compute it, and what came of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import streamlit as st

from viz.pages.attention import data
from viz.text.messages import said
from viz.ui import long_work

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.reasons.without import Measured, Outcome, Product
    from model.errors import Message

#: Where a session keeps what it has tested of the question that it asks.
_TESTS: Final = "why: tests"
#: Of the two jobs.
_PRODUCTS, _RUN = "why-products", "why-test"
TEST_IT: Final = said("Test it")


@dataclass(slots=True)
class Tests:
    """What a session has tested of a question."""

    question: Hashable
    wanted: data.Codes | None = None  #: the test that was asked for last
    found: "dict[data.Codes, Outcome]" = field(default_factory=dict)
    #: what the model gives with nothing taken out of the text, and of the twin.
    intact: "list[Measured | None]" = field(default_factory=lambda: [None, None])

    def ask(self, codes: str) -> None:
        """Ask for a test, by what a page calls it."""
        self.wanted = tuple(codes.split("."))


def of_session(reader: "Reader", trace: "Trace", asked: data.Asked) -> Tests:
    """What this session has tested of a question; none of the question before."""
    question = (reader.key, trace.key, asked)
    tests = st.session_state.get(_TESTS)
    if not isinstance(tests, Tests) or tests.question != question:
        tests = st.session_state[_TESTS] = Tests(question)
    return tests


def products(
    reader: "Reader", trace: "Trace", asked: data.Asked, codes: Sequence[data.Codes]
) -> "Mapping[data.Codes, Product | Message]":
    """What is left without each, by one product; empty, with its progress shown, while that is computed."""
    task = data.finding_products(reader, trace, asked, codes)
    return long_work.outcome(task, said("Compute the score without each part"), key=_PRODUCTS, start=True) or {}


def run(reader: "Reader", trace: "Trace", asked: data.Asked) -> Tests:
    """Run the test that was asked for last, or show its progress; and all that were run before."""
    tests = of_session(reader, trace, asked)
    if tests.wanted is not None and tests.wanted not in tests.found:
        task = data.test(reader, trace, asked, tests.wanted)
        if (tested := long_work.outcome(task, TEST_IT, key=_RUN, start=True)) is not None:
            tests.intact[tested.of_twin], tests.found[tests.wanted] = tested.intact, tested.outcome
    return tests
