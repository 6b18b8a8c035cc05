"""Lessons, of the page that teaches: a step at a time, a picture and some words; a question may be asked of a class."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from random import randrange
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.pages.learn.explore import TOPICS
from viz.pages.learn.explore import part as explore
from viz.pages.learn.lessons import classroom, data, ending, final_test, pictures, result
from viz.pages.learn.lessons.data.shipped import Shipped
from viz.pages.learn.lessons.lesson import (
    Lesson,
    Question,
    filled,
    filled_plainly,
    holds,
    is_right,
    lessons,
    right_answer,
    with_text,
)
from viz.pages.learn.lessons.pictures import NO_PICTURE, Bars, Curves, FullPage, Heads, LiveRow, Picture, Rows, View
from viz.pages.learn.transformer import walk
from viz.pictures.component import ignore
from viz.pictures.head_grid.component import Grid, HeadChoice, head_grid
from viz.pictures.matrix_picture.component import Kept, MatrixData, matrix_picture
from viz.selection import catalogue, state
from viz.selection.choices import ModelChoice
from viz.selection.examples import EXAMPLES
from viz.selection.selection import PAGES
from viz.server import viewers
from viz.server.class_answers import classes
from viz.text.html import table
from viz.text.language import NAMES
from viz.text.messages import _, plural
from viz.text.messages import shown as shown_text
from viz.text.written import file_name
from viz.ui import controls, frame, long_work, present, sentence, terms, trace_tables
from viz.ui.controls import plain

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

#: In the session: the steps that were seen, and where a press on Next asked whether to skip a question.
_SEEN: Final = "lessons/seen"
_SKIPS: Final = "lessons/skips"
#: In the session: the step that was drawn last.
_DRAWN: Final = "lessons/drawn"
#: In the session: the seed of the final test that is listed while none is open.
_SEED: Final = "lessons/seed"


def show(head: "DeltaGenerator") -> None:
    """Which lesson and step, its words, its question and its picture; below it Explore, whatever becomes of these."""
    lesson, number = _chosen()
    present.steps(len(lesson.steps), "lesson_step", first=1)
    if not present.is_on():
        _way(lesson, number)
    with frame.errors_shown():
        _lesson(lesson, number, head)
    if (topic := lesson.steps[number - 1].explore) and not present.is_on():
        explore.show(topic)


def _lesson(lesson: Lesson, number: int, head: "DeltaGenerator") -> None:
    choice = ModelChoice(models.lessons_name(), state.current().model.device)
    key = _own_key(lesson, number)
    if own := st.session_state.get(key, "").strip():
        lesson = with_text(lesson, number, own)
        if present.is_on():
            # The field is not drawn there, and Streamlit forgets what it held.
            st.session_state[key] = own
    if (caution := _caution(choice)) and not present.is_on():
        head.caption(terms.explained(caution))
    with frame.loading():
        shipped = Shipped(choice, models.translator(choice))
    # What the model cannot read, the step itself says. A projector has room for the step alone.
    with suppress(HeadlightError):
        if not present.is_on():
            head.html(sentence.lines_html(_lines(shipped, lesson, number)))
    _step(shipped, lesson, number)


def _own_key(lesson: Lesson, number: int) -> str:
    """The key of the field for a sentence of one's own, which no address keeps."""
    return f"lesson-own-{lesson.name}-{number}"


def explored() -> str:
    """The topic that is unfolded below the open step; "" for none."""
    lesson, number = _chosen()
    return lesson.steps[number - 1].explore if state.current().learn.explore else ""


def _lines(shipped: Shipped, lesson: Lesson, number: int) -> list[sentence.Line]:
    """The sentence of a step and its translation; where a step has none, that of the nearest one before or after."""
    steps = (*lesson.steps[number - 1 :: -1], *lesson.steps[number:])
    # What another model reads, this one need not translate.
    given = [step.given for step in steps if "model" not in step.given]
    texts = (one.get("text") or next(iter(one.get("texts", ())), "") for one in given)
    trace = shipped.trace(next(filter(None, texts), EXAMPLES[0].text))
    both = zip(models.languages(shipped.choice), (trace.text, trace.translation), strict=True)
    return [sentence.Line(language.upper(), language, text) for language, text in both]


def _caution(choice: ModelChoice) -> str:
    """Why the numbers of the lessons are not what a person expects, as Markdown; "" if they are."""
    language, chosen = models.languages(choice)[0], models.name_of(state.current().model)
    if language.partition("-")[0] not in ("", "en"):
        message = (
            ":material/warning: Lessons run on {name}, which reads {language}, so their English sentences and numbers "
            "do not fit it. They are written for the translator that ships: start Headlight without {root_variable}."
        )
        known = NAMES.get(language, plain(language))
        return _(message, name=plain(models.lessons_name()), language=known, root_variable=catalogue.ROOT_VARIABLE)
    if chosen != models.lessons_name():
        message = (
            ":material/info: Lessons and their numbers use {name}, whatever is chosen on the left; the other "
            "pages show {chosen}."
        )
        return _(message, name=plain(models.lessons_name()), chosen=plain(catalogue.label(chosen)))
    return ""


def _chosen() -> tuple[Lesson, int]:
    """The open lesson and step; what a link names that does not exist becomes the nearest that does."""
    chosen = state.current().learn
    lesson = final_test.course(chosen.lesson) or next(iter(lessons().values()))
    number = min(max(1, chosen.lesson_step), len(lesson.steps))
    if (chosen.lesson, chosen.lesson_step) != (lesson.name, number):
        state.correct(lesson=lesson.name, lesson_step=number)
    return lesson, number


def _courses() -> Mapping[str, tuple[str, Lesson]]:
    """Every lesson as it is listed, by its name, and the final test: the open one, else one of this session's own."""
    known = {name: (f"{index}. {_(of.title)}", of) for index, (name, of) in enumerate(lessons().items())}
    test = final_test.course(state.current().learn.lesson)
    if test is None or not final_test.is_test(test):
        test = final_test.drawn(st.session_state.setdefault(_SEED, randrange(final_test.SEEDS)))
    return {**known, test.name: (_(test.title), test)}


def _way(lesson: Lesson, number: int) -> None:
    """The lessons, the steps of the open one, and the way back and on."""
    titles = {name: title for name, (title, _of) in _courses().items()}
    before, after = _neighbour(lesson, number, -1), _neighbour(lesson, number, 1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        controls.dropdown("lesson", _("Lesson"), titles, width=250)
        steps = {step: f"{step}. {_(each.title)}" for step, each in enumerate(lesson.steps, 1)}
        controls.dropdown("lesson_step", _("Step"), steps, width=262)
        help_text = _("All lessons and your progress")
        contents = st.popover(
            _("Contents"), icon=":material/toc:", key="lesson-contents", help=help_text, on_change="rerun"
        )
        if contents.open:
            with contents:
                _contents()
        st.button(
            _("Previous step"), icon=":material/arrow_back:", key="lesson-back", disabled=before is None,
            on_click=_go(before),
        )  # fmt: skip
        is_last = number == len(lesson.steps) and after is not None
        is_open = lesson.steps[number - 1].question is not None and not state.current().learn.answer
        # Asked once, and of this question alone.
        is_asked = st.session_state.pop(_SKIPS, None) == after
        st.button(
            _("Skip question") if is_open and is_asked else _("Next lesson") if is_last else _("Next step"),
            key="lesson-next", type="primary", disabled=after is None, width=130,
            on_click=_go(after, asks=is_open and not is_asked),
        )  # fmt: skip
    if is_open and is_asked:
        frame.caption("The question has no answer yet: answer it, or press again to skip it.")


def _contents() -> None:
    """Every lesson, how many of its steps were seen in this session, and which questions were answered at once."""
    seen = _seen()
    for name, (title, lesson) in _courses().items():
        named, share = st.columns((3, 2), vertical_alignment="center")
        named.button(title, key=f"contents-{name}", type="tertiary", on_click=_open, args=(name,))
        of_lesson = [is_right for (lesson_of, _step), is_right in seen.items() if lesson_of == name]
        asked = sum(step.question is not None for step in lesson.steps)
        told = _("{seen} of {steps} steps", seen=len(of_lesson), steps=len(lesson.steps))
        right = _("{right} of {asked} right on the first try", right=sum(of_lesson), asked=asked)
        share.progress(
            len(of_lesson) / len(lesson.steps),
            text=_("{steps} · {answers}", steps=told, answers=right) if asked else told,
        )


def _open(name: str) -> None:
    """Open a lesson from the contents, which close."""
    st.session_state["lesson-contents"] = False
    state.choose(lesson=name)


def _seen() -> dict[tuple[str, int], bool]:
    """Of this session: lesson and step → whether its question was answered rightly at once."""
    seen: dict[tuple[str, int], bool] = st.session_state.setdefault(_SEEN, {})
    return seen


def _neighbour(lesson: Lesson, number: int, by: int) -> tuple[str, int] | None:
    """The step before or after, which may be in another lesson; None at the ends."""
    every = [(name, step) for name, (_title, of) in _courses().items() for step in range(1, len(of.steps) + 1)]
    at = every.index((lesson.name, number)) + by
    return every[at] if 0 <= at < len(every) else None


def _go(to: tuple[str, int] | None, *, asks: bool = False) -> Callable[[], None]:
    """What leads to a step; with `asks`, only once a person has pressed twice."""

    def go() -> None:
        if asks:
            st.session_state[_SKIPS] = to
        elif to is not None:
            lesson, step = to
            state.choose(lesson=lesson)
            state.choose(lesson_step=step)

    return go


def _step(shipped: Shipped, lesson: Lesson, number: int) -> None:
    step = lesson.steps[number - 1]
    with st.container(key="lesson-step"):
        # On a narrow page the picture comes below the words (`viz/ui/page_style.css`).
        told, shown = st.columns([2, 3], gap="large")
    if not present.is_on():
        told.caption(
            terms.explained(
                _("{section} · on **{name}**", section=_(lesson.section), name=plain(models.lessons_name()))
            ),
            help=_(
                "Lessons run on the translator that ships, the first of Headlight's Transformers on the server's list, "
                "whatever is chosen on the left; their claims are tested with it."
            ),
        )
    told.subheader(_(step.title), anchor=False)
    # While the picture is computed, nothing of the step before is left to be clicked; in the same step whoever answers
    # by keyboard keeps the place.
    is_same = st.session_state.get(_DRAWN) == (lesson.name, number)
    words = told.container() if is_same else told.empty()
    st.session_state[_DRAWN] = lesson.name, number
    if step.own and not present.is_on():
        # Before the picture: what a sentence leads to may be an error, and the field has to stay.
        example = lessons()[lesson.name].steps[number - 1].given["text"]
        shown.text_input(_("Your own sentence"), key=_own_key(lesson, number), placeholder=example, max_chars=200)
    with shown, st.skeleton(height=frame.SKELETON_HEIGHT):
        view = long_work.awaited(data.task(shipped, lesson, number), key="lesson")
    with words if is_same else words.container():
        if step.text:
            terms.markdown(filled(step.text, view.found))
        is_open = step.question is None or _answered(step.question, view, (lesson.name, number))
        if is_open:
            _claims(step.claims, view)
        if final_test.is_test(lesson) and number == len(lesson.steps):
            result.of_class(lesson, _seen())
        if not final_test.is_test(lesson):
            _full_page(view.full, step.explore)
        elif is_open:
            of = next(name for name, each in lessons().items() if each.title == step.title)
            label = _("The lesson: {title}", title=_(step.title))
            st.button(label, key="lesson-full", icon=":material/school:", type="tertiary", on_click=_open, args=(of,))
    with shown:
        if not is_open and not step.is_shown:
            if view.picture != NO_PICTURE:
                frame.note("Predict first: the picture appears after your answer.")
            return
        key, name = f"lesson-{lesson.name}-{number}", f"{lesson.name} {number}"
        if step.walk:
            place = {**view.full.choices, **step.walk}
            with st.container(key="lesson-walk"):
                walk.draw(shipped.trace(step.given["text"]), models.reader(shipped.choice), place, key, file_name(name))
        elif view.picture != NO_PICTURE:
            picture, caption = (view.picture, view.caption) if is_open else (_unnamed(view.picture, _(step.title)), "")
            alt = _("{title}. {caption}", title=_(step.title), caption=caption)
            draw(picture, shipped.choice, key=key, name=name, alt=alt)
            terms.caption(controls.markdown(caption))
        if not is_open:
            return
        _seen().setdefault((lesson.name, number), False)
        if number == len(lesson.steps) and not present.is_on():
            result.show(lesson, _seen()) if final_test.is_test(lesson) else ending.show(lesson)


def _unnamed(picture: Picture, title: str) -> Picture:
    """A picture that does not say what it shows, for this is asked."""
    if isinstance(picture, MatrixData):
        return replace(picture, title=title, label=title, note="", focus=None, file_name="question")
    return picture


def _answered(question: Question, view: View, place: tuple[str, int]) -> bool:
    """The question, and after an answer whether the model bears it out; whether it has been answered."""
    options = [filled_plainly(option, view.found) for option in question.options]
    labels = {0: "", **dict(enumerate(map(plain, options), 1))}
    chosen, asked = state.current().learn.answer, "/".join(map(str, place))
    if chosen > len(options):
        state.correct(answer=0)
        chosen = 0
    terms.markdown(f"**{filled(question.ask, view.found)}**")
    st.pills(
        _("Your prediction"), list(range(1, len(options) + 1)), key=state.bind("answer", chosen or None),
        format_func=labels.__getitem__, on_change=_take, args=(asked,),
        label_visibility="collapsed",
    )  # fmt: skip
    classroom.ask(asked, options, has_answered=chosen > 0)
    if not chosen:
        return False
    because = filled(question.because, view.found)
    is_right_one = is_right(question.options[chosen - 1], question, view.found)
    _seen().setdefault(place, is_right_one)
    if is_right_one:
        st.success(terms.explained(_("**Right.** {because}", because=because)), icon=":material/check:")
    else:
        answer = right_answer(question, view.found)
        if not answer.endswith((".", "?", "!")):
            answer = _("{answer}.", answer=answer)
        if view.picture == NO_PICTURE:
            told = _("**The answer: {answer}** {because}", answer=plain(answer), because=because)
        else:
            told = _("**The model says: {answer}** {because}", answer=plain(answer), because=because)
        # A small projector has no room for it.
        with st.container(key="lesson-wrong"):
            terms.markdown(filled(question.wrong[chosen - 1], view.found))
        st.warning(terms.explained(told), icon=":material/close:")
    return True


def _take(question: str) -> None:
    # 0 where it was taken back.
    state.take("answer", lambda value: value if isinstance(value, int) else 0)
    if code := state.current().learn.classroom:
        classes().answer(code, question, viewers.browser(), state.current().learn.answer)


def _claims(claims: tuple[str, ...], view: View) -> None:
    """What the text rests on, where this model does not bear it out."""
    failing = [claim for claim in claims if not holds(claim, view.found)]
    if failing:
        told = _("This model does not confirm the claims of this step: {claims}.", claims=_listed(failing, view))
        st.warning(told, icon=":material/warning:")
    elif claims:
        told = plural("Checked just now: the claim holds", "Checked just now: {count} claims hold", len(claims))
        st.badge(told, icon=":material/check:", color="green", help=_listed(claims, view))


def _listed(claims: Iterable[str], view: View) -> str:
    """Claims, each with what was found, as Markdown."""
    return _("; ").join(
        _("{claim} (found {value})", claim=plain(_spoken(claim)), value=plain(_found(view, claim))) for claim in claims
    )


def _spoken(claim: str) -> str:
    """A claim with the word that it compares, if it is one of ours, in the language of the page run."""
    comparison, quote, word = claim.partition("'")
    return f"{comparison}'{_(word[:-1])}'" if quote else claim


def _found(view: View, claim: str) -> str:
    value = view.found[claim.split()[0]]
    return shown_text(value) if isinstance(value, str) else f"{value:.4g}"


def _full_page(full: FullPage, topic: str) -> None:
    """The button that opens the same view where all of it is: on a page, or in Explore, here where it has the topic."""
    is_here = bool(topic) and full.topic == topic
    if is_here and state.current().learn.explore:
        return
    if full.topic:
        label = _("Explore: {topic}", topic=_(TOPICS[full.topic].label))
    else:
        label = _("Open on the {page} page", page=PAGES[full.page].title)
    st.button(
        label,
        key="lesson-full",
        icon=":material/explore:" if is_here else ":material/open_in_new:",
        type="tertiary",
        on_click=_unfold if is_here else open_full_page,
        args=(full,),
    )


def _unfold(full: FullPage) -> None:
    """Unfold Explore below the step, for the model and the sentence that are chosen."""
    state.change(explore=True, **{name: value for name, value in full.choices.items() if name != "text"})


def open_full_page(full: FullPage) -> None:
    """Open a view on its page: called at the end of a callback, or of a run."""
    # Without a name it is the server's first, on which lessons run; a view of another model names it.
    state.choose(checkpoint="")
    if "text" in full.choices:
        state.choose(text=full.choices["text"])
    state.change(**full.choices)
    if full.topic:
        present.open_explore(full.topic)
    else:
        present.open_page(full.page)


def draw(picture: Picture, choice: ModelChoice, *, key: str, name: str, alt: str) -> None:
    """Draw a picture of the model that lessons run on; `name` is that of saved files, `alt` for those who hear it."""
    match picture:
        case Bars():
            frame.chart(pictures.bars(picture), key, file_name(name), alt, present.PICTURE_HEIGHT)
        case Curves():
            frame.chart(pictures.curves(picture), key, file_name(name), alt, present.PICTURE_HEIGHT)
        case Rows():
            with st.container(key=key):
                st.html(table(picture.columns, picture.rows, label=alt))
        case Heads():
            _heads(picture, choice, key)
        case LiveRow():
            pictures.live_row(picture, key=key)
        case MatrixData():
            matrix_picture(picture, Kept(), on_keep=ignore, key=key)


def _heads(picture: Heads, choice: ModelChoice, key: str) -> None:
    trace, site = picture.trace, picture.site
    address = trace_tables.send(trace, models.reader(choice), site, None, key=f"{key}-tiles")
    grid = Grid(
        address=address,
        shape=trace.shapes[site],
        selected=None if picture.selected is None else HeadChoice(*picture.selected),
        name=file_name(site, "all heads", sentence=trace.text),
    )
    head_grid(grid, on_open=ignore, key=key)
