"""Why a head looks where it looks, without a model: a question, and the answers along its largest shares."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING, Final

from model import later
from model.errors import Message, TraceError
from viz.access import texts
from viz.pages.attention import data
from viz.pages.attention.data import Asked
from viz.pages.attention.why import picture
from viz.pages.attention.why.drawn import COMPONENT, Drawn, testable, with_tests
from viz.pages.attention.why.payload import Page, Row
from viz.pictures import payload
from viz.pictures.offline import Drawing, Part
from viz.server.background_jobs import Progress
from viz.server.caches import cached
from viz.text.messages import _

if TYPE_CHECKING:
    from model import Trace
    from model.analysis.reasons.trail import Trail
    from model.analysis.reasons.without import Measured, Outcome, Product
    from model.reader import Reader

#: So many answers are kept of a question, its own among them.
ANSWERS: Final = 32


def asked_of(
    reader: "Reader", trace: "Trace", cell: tuple[str, int, int, int, int] | None = None, twin: str | None = None
) -> Asked:
    """What is asked of a trace: a cell (site, layer, head, row, key), by default the one most worth asking about.

    `twin` is "" for none, and by default the one that is known. Raises a TraceError if there is no such question.
    """
    text = texts.known_twin(trace.text) if twin is None else twin
    data.check_length(trace)
    if cell is None:
        found = data.telling_cell(reader, trace, text)
        if found is None:
            raise TraceError("No row of this text has two keys to choose from, so there is nothing to ask about.")
        cell = found.site, found.layer, found.head, found.row, found.key
    return Asked(*cell, None, text)


def why_of(reader: "Reader", trace: "Trace", asked: Asked) -> Drawing:
    """A question, and the answers along its largest shares. Raises a TraceError if the score cannot be split."""
    trails = _answered(reader, trace, asked)
    there = data.twin_trace(reader, trace, asked.twin) if asked.twin else None
    by_codes = {trail.codes: trail for trail in trails}
    names = [".".join(codes) for codes in by_codes]
    steps = [Drawn(trace, there, asked, trail, _ahead(trail, by_codes)) for trail in trails]
    pages = {step.trail.codes: step.page() for step in steps}
    leading = [level.trail for level in data.ahead(reader, trace, asked, ()).levels if level.trail in pages]
    outcomes: dict[data.Codes, Outcome] = {}
    for codes in leading:
        tests = _tested(reader, trace, asked, tuple(testable(pages[codes])), tuple(leading))
        pages[codes] = with_tests(pages[codes], *tests)
        outcomes |= tests[1]
    kept = {*names, trails[0].side}
    shown = [payload.pack(_kept(page, kept)) for page in pages.values()]
    pictures = [payload.pack(_picture(step, outcomes, kept)) for step in steps]
    # Another rival or twin takes the model.
    styles = {COMPONENT: " .why .tools { display: none; }", picture.COMPONENT: ""}
    parts = [
        Part(component, first, tuple(others), answers=tuple(names[1:]), style=styles[component])
        for component, (first, *others) in ((COMPONENT, shown), (picture.COMPONENT, pictures))
    ]
    return Drawing(parts, 1, alt_of(trace))


def alt_of(trace: "Trace") -> str:
    """What a picture of a question shows, for those who hear it."""
    return _("Why a head attends to these tokens: {text}", text=trace.text)


def _ahead(trail: "Trail", kept: "Mapping[tuple[str, ...], Trail]") -> "Trail":
    """A trail continued by what gives most, as far as answers are kept."""
    further = later.reasons_trail.strongest(trail.levels[-1])
    return _ahead(kept[further], kept) if further and further in kept else trail


@cached(max_entries=1)
def _answered(reader: "Reader", trace: "Trace", asked: Asked) -> "tuple[Trail, ...]":
    """Answers: the question's, those along what gives most, and then of the largest shares of all these."""
    question = data.trail(reader, trace, asked, ())
    reason, side = question.reason, "k" if question.side == "q" else "q"
    other = reason.keys if side == "k" else reason.query
    leading = data.ahead(reader, trace, asked, ()).levels
    waiting = [(-inf, level.trail) for level in leading] + [(-abs(other.total), (side,))]
    found: dict[tuple[str, ...], Trail] = {}
    while waiting and len(found) < ANSWERS:
        _share, codes = heappop(waiting)
        trail = data.trail(reader, trace, asked, codes)
        if codes in found or trail.refused is not None:
            continue
        found[codes] = trail
        level = trail.levels[-1]
        for bar in (*level.words, *level.parts):
            if bar.trail:
                heappush(waiting, (-abs(bar.share), bar.trail))
    return tuple(found.values())


@cached(max_entries=8)
def _tested(
    reader: "Reader", trace: "Trace", asked: Asked, tests: tuple[data.Codes, ...], runs: Container[data.Codes]
) -> "tuple[Mapping[data.Codes, Product | Message], Mapping[data.Codes, Outcome], Sequence[Measured]]":
    """What a page has of its tests: of each its product, and of the steps in `runs` what a run gives."""
    products, outcomes = data.products(reader, trace, asked, tests), dict[data.Codes, "Outcome"]()
    intact: Sequence[Measured] = ()
    for codes, product in products.items():
        if codes in runs and not isinstance(product, Message):
            task = data.test(reader, trace, asked, codes)
            tested = task.compute(Progress(task.total, task.unit))
            intact, outcomes[codes] = [tested.intact], tested.outcome
    return products, outcomes, intact


def _picture(step: Drawn, tested: picture.Tested, names: Container[str]) -> picture.Picture:
    """The picture of a trail that asks for nothing but what is kept under these names."""
    drawn = picture.draw(step.names, step.there, step.ahead, step.trail.codes, tested)

    def kept(other: picture.Other) -> picture.Other:
        return other if other.trail in names else replace(other, trail=None)

    return replace(drawn, steps=[replace(step, others=[*map(kept, step.others)]) for step in drawn.steps])


def _kept(page: Page, names: Container[str]) -> Page:
    """A page that asks for nothing but what is kept under these names."""

    def known(trail: str) -> str:
        return trail if trail in names else ""

    def row(given: Row) -> Row:
        tints = [replace(tint, trail=known(tint.trail)) for tint in given.tints]
        trail = "" if given.is_chosen else known(given.trail)
        return replace(given, trail=trail, tints=tints, heads=[*map(row, given.heads)])

    groups = [
        replace(group, rows=[*map(row, group.rows)], rest=None if group.rest is None else row(group.rest))
        for group in page.groups
    ]
    return replace(page, rivals=(), groups=groups, crumbs=[each for each in page.crumbs if each.trail in names])
