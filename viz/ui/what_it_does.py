"""What an open head does, in a sentence with its numbers: measured unasked over a corpus, while nobody waits.

The corpus is ours, or texts that a person gives here.
"""

from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import findings, head_descriptions, models
from viz.access.head_descriptions import Described, Known, OwnTexts
from viz.selection import state
from viz.server import limits
from viz.server.background_jobs import Job, Task
from viz.server.opening_page import first_picture
from viz.text import head_description
from viz.text.messages import _, in_a_row, plural, shown
from viz.ui import frame, head_details, long_work, own_texts, terms
from viz.ui.controls import plain

if TYPE_CHECKING:
    from model import Reader, Trace
    from model.analysis.corpus import CorpusSentence
    from model.analysis.head_description.describe import HeadDescription
    from viz.ui.own_texts import Loaded

_KEY: Final = "what-heads-do"
#: In the session: texts that a person has given.
_OWN: Final = "heads/sentences"


def answer(trace: "Trace", site: str, layer: int, head: int) -> bool:
    """What a head does, as far as that is measured, and how far it is; returns whether anything was said of the head.

    The first page that asks for it has the model measured. Nothing is said of a model that reads no text.
    """
    if not _can_be_said(trace):
        return False
    reader, own = models.reader(state.current().model), _own_texts()
    known = head_descriptions.known(reader, own)
    described, found = known.of(site, layer, head)
    if described is not None and found is not None:
        jobs = findings.of_model(state.current().model, site)
        _say(described, head_descriptions.with_job(found, jobs), reader)
    if known.why_none:
        instead = _("Choose your own texts to see what the heads of this model do.")
        terms.caption(plain(in_a_row((shown(known.why_none), instead))))
    if not known.is_whole:
        _show_measuring(head_descriptions.describing(state.current().model, own), known)
    if found is None and (own is not None or (known.is_whole and known.why_none)):
        # Also where one's own texts could not be read: others can be given.
        _choose_texts(reader)
    return found is not None


def details(trace: "Trace", site: str, layer: int, head: int) -> None:
    """All that was measured of a head; nothing before it was."""
    if not _can_be_said(trace):
        return
    reader, own = models.reader(state.current().model), _own_texts()
    known = head_descriptions.known(reader, own)
    described, found = known.of(site, layer, head)
    if described is not None and found is not None:
        task = head_descriptions.describing(state.current().model, own)
        job = None if known.is_whole else long_work.job_of(task, _KEY)
        # More texts, of which others are weak and strong, are on their way.
        head_details.show(reader, described, found, with_examples=job is None or job.finished)
        _choose_texts(reader)


def _own_texts() -> OwnTexts | None:
    """The texts that a person has given, if there are any."""
    loaded: Loaded[CorpusSentence] | None = st.session_state.get(_OWN)
    if loaded is None or not loaded.rows:
        return None
    return OwnTexts.of(loaded.name, loaded.rows)


def _choose_texts(reader: "Reader") -> None:
    """The field for texts of one's own, and which are read."""
    frame.unfolding(_("Your own texts"), f"{_OWN}-open", _texts_field, reader)


def _texts_field(reader: "Reader") -> None:
    terms.caption(
        _(
            "Heads are described from these texts instead of Headlight's; if there are more than {most:,}, that many "
            "are drawn at random.",
            most=head_descriptions.MOST_TEXTS,
        )
    )
    writes = reader.abilities.kind == "encoder-decoder"
    own_texts.sentences(_OWN, "python -m viz.heads FOLDER --text FILE", writes=writes)


def _can_be_said(trace: "Trace") -> bool:
    """Whether the chosen model reads text, and a text was read."""
    return models.abilities(state.current().model).reads == "text" and trace.source.has_words


def _say(described: Described, found: "HeadDescription", reader: "Reader") -> None:
    """The answer, after what it was measured to do and how much rests; below the picture the numbers of these, at most
    two more sentences, and from which texts.
    """
    lines = head_description.lines(found)
    above = [line for line in lines if line.is_first]
    sentences = in_a_row(line.sentence for line in above)
    first_picture.say(sentences)
    with st.container(key="what-it-does", gap=None):
        terms.markdown(f"**{plain(sentences)}**")
    with st.container(key="what-it-does-more", gap=None):
        for line in above:
            if line.numbers:
                is_alone = len(above) == 1 or not line.name
                numbers = line.numbers if is_alone else _("{name}: {numbers}", name=line.name, numbers=line.numbers)
                terms.caption(plain(numbers))
        for line in lines[len(above) :]:
            for said_small in filter(None, (line.sentence, line.numbers)):
                terms.caption(plain(said_small))
        measured = described.measured
        read = head_description.corpus_words(
            described.language,
            described.file,
            len(measured.texts),
            measured.total - measured.given + len(measured.texts),
        )
        rows = plural("{count:,} row", "{count:,} rows", found.rows)
        if described.is_whole:
            terms.caption(plain(_("Measured: {texts}, {rows}", texts=read, rows=rows)))
        else:
            terms.caption(plain(_("A first result, which may still change: {texts}, {rows}", texts=read, rows=rows)))


def _show_measuring(task: Task[None], known: Known) -> None:
    """One line: how far the model is measured, with what stops that, or begins it."""
    name = _("What each head does")
    job = long_work.job_of(task, _KEY)
    if job is None and limits.rules().measures_unasked:
        job = long_work.begin(task, _KEY, name)
    if job is not None and not job.finished:
        _watch(job, known, known.described)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        terms.caption(
            plain(_("Nothing is measured here unless you ask.") if job is None else _ended(job)), width="content"
        )
        label = _("Measure what each head does") if job is None else _("Continue")
        icon = ":material/play_arrow:"
        st.button(label, key=f"{_KEY}-start", type="tertiary", icon=icon, on_click=_begin, args=(task, name))


def _begin(task: Task[None], name: str) -> None:
    long_work.stop(_KEY)
    long_work.begin(task, _KEY, name)


def _ended(job: Job[None]) -> str:
    """Why a job has come to no result, as a sentence."""
    try:
        job.result()
    except HeadlightError as error:
        return error.message
    return ""


@st.fragment(run_every=1.0)
def _watch(job: Job[None], known: Known, drawn: Described | None) -> None:
    """How far the model is measured; once more is known than was drawn, the whole page says it."""
    if job.finished or known.described is not drawn:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"{_KEY}-watch"):
        terms.caption(plain(job.text), width="content")
        st.button(
            _("Stop"), key=f"{_KEY}-stop", type="tertiary", icon=":material/stop:", disabled=job.stopping,
            on_click=job.stop,
        )  # fmt: skip
