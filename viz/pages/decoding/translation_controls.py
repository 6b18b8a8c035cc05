"""What several tabs of the decoding page let a person choose: translation, step, candidate, head, a word to write."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import TokenError
from viz.access import head_verdict, models
from viz.pages.decoding import translations
from viz.pages.decoding.data import branches
from viz.selection import notices, state
from viz.selection.branch_codes import ORIGINAL, Choice, summary
from viz.server.widgets import sent
from viz.text.messages import _, said
from viz.text.written import display_token
from viz.ui import controls, finding
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Trace


#: What a tab is asked: the field, and what a person chooses by it.
_QUESTIONS: Final = {
    "Film": ("search", said("How the translation is found")),
    "Inside": ("inside", said("What to read inside the model")),
}


def asked(views: Mapping[str, Callable[["Trace"], object]], trace: "Trace") -> None:
    """Ask which of a tab's views, and which translation if there are branches; then show that view of it."""
    made, (field, question) = translations.choices(), _QUESTIONS[state.current().decoding.decoding_tab]
    with st.container(key="asked-of-translation", horizontal=True, vertical_alignment="center", gap="medium"):
        view = controls.segmented(field, question, {name: _(name) for name in views}, has_label=False)
        if made:
            names = names_of(made, trace)
            st.selectbox(
                _("Translation shown"),
                range(len(names)),
                key=state.bind("branch"),
                format_func=lambda number: names[number],
                label_visibility="collapsed",
                width=260,
                on_change=_show,
            )
    views[view](trace)


def known_traces() -> list["Trace | None"]:
    """Return the trace of every translation, the model's own first; None for a long one never opened."""
    with st.spinner(_("Writing the branches …"), show_time=True):
        return translations.known_traces()


def names_of(made: Sequence[Choice], trace: "Trace") -> list[str]:
    """Each translation in a line, the model's own first."""
    vocabulary = models.vocabulary(models.reader(state.current().model))
    return [summary(number, choice, vocabulary, trace.source_tokens) for number, choice in enumerate((None, *made))]


def type_word(trace: "Trace") -> None:
    """A field for the word to write at the step that is chosen, in place of its token."""
    key = "write-in-film"
    step = min(state.current().common.step, len(trace.steps) - 1)
    writer = models.writer(state.current().model)
    ends = _(" or ").join(f"“{plain(token)}”" for token in writer.vocabulary.tokens(sorted(writer.end_ids)))
    message = "Write instead of “{token}” at step {step}"
    st.text_input(
        _(message, token=plain(display_token(trace.steps[step].token)), step=step + 1),
        key=key,
        placeholder=_("Type a word and press Enter"),
        width=300,
        help=_(
            "A word may be several tokens: all are written, then the model continues. {ends} ends the text.", ends=ends
        )
        if ends
        else _("A word may be several tokens: all are written, then the model continues."),
        on_change=_write,
        args=(key,),
    )


def which_head(trace: "Trace") -> tuple[str, int, int]:
    """Which attention, layer and head."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        site = controls.site(trace.sites)
        return site, controls.layer(trace.layers_of(site)), controls.head(trace.heads_of(site))


def short_names(count: int) -> list[str]:
    """What the translations are called where there is little room, the model's own first."""
    return [_(ORIGINAL), *(_("Branch {number}", number=number) for number in range(1, count))]


def against(names: Sequence[str], chosen: int) -> None:
    """Which translation the one shown is compared with."""
    shown = state.current().decoding.branch
    labels = {number: name for number, name in enumerate(names) if number != shown}
    controls.dropdown("compared_branch", _("{name}, compared with", name=names[shown]), labels, shown=chosen, width=260)


def _show() -> None:
    number = sent("branch")
    if isinstance(number, int):
        translations.show(number)
        st.rerun()


def _write(key: str) -> None:
    word = str(st.session_state[key])
    if not word:
        return
    try:
        token_ids = branches.spell(word, models.writer(state.current().model))
    except TokenError as error:
        # What was typed stays in the field, to be put right.
        notices.answer(error.message)
    else:
        st.session_state[key] = ""
        translations.write(state.current().common.step, token_ids)
    st.rerun()


def propose(trace: "Trace") -> None:
    """Propose the head that links a pronoun, and the step that writes the pronoun, else the least sure one."""
    finding.open_on_finding(trace)
    link = finding.of(trace).link
    step = None if link is None else link.step
    state.propose(step=head_verdict.least_sure_step(trace) if step is None or step >= len(trace.steps) else step)
