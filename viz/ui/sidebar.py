"""What every page has on its left: the model or one of one's own, what it reads, examples, the device, shown tabs."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import HeadlightError
from viz.access import models
from viz.access.given_files import FILES
from viz.pictures.page_tools import theme_choice
from viz.selection import catalogue, notices, state
from viz.selection.choices import DEVICES, ModelChoice
from viz.selection.examples import ALL_EXAMPLES, CHAT_EXAMPLE, Example, examples_in
from viz.selection.selection import FIELDS, PAGES, Page
from viz.server import limits
from viz.server.widgets import sent
from viz.text import messages
from viz.text.language import NAMES
from viz.text.messages import Message, _, said
from viz.ui import controls, given_file, terms
from viz.ui.controls import with_code

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_TYPED = "add/folder"
_FETCH = "add/fetch"
#: Whether the field is unfolded.
_UNFOLDED = "add-model"


def unfold() -> None:
    """Show the field from the next run on."""
    st.session_state[_UNFOLDED] = True


def add_model() -> None:
    """The field for a folder, the choice to fetch, and what is wrong with what was typed; a shared server has none."""
    if not limits.rules().names_folders:
        return
    # It counts as a control, or a run could not unfold it.
    with st.expander(_("Add a model"), key=_UNFOLDED, icon=":material/add:", on_change="rerun"):
        if not catalogue.can_add():
            message = (
                "Others can reach this server, so it opens no folder that is typed here. Its administrator can allow "
                "folders with models in `{folders_variable}`; see “For a class” in the README."
            )
            terms.caption(_(message, folders_variable=catalogue.FOLDERS_VARIABLE))
            return
        allowed = catalogue.folders_to_add_from()
        with st.form("add", border=False):
            typed = st.text_input(
                _("Folder"),
                key=_TYPED,
                placeholder=f"{allowed[0]}/…" if allowed else "/path/to/a/folder",
                help=_(
                    "A folder saved by transformers (BERT, GPT-2, Llama, T5, OPUS-MT, ViT …: safetensors and a "
                    "tokenizer), or a Headlight checkpoint. It appears only on the list of this session."
                ),
            )
            fetch = catalogue.downloads_allowed() and st.checkbox(
                _("Download it from the Hugging Face Hub"),
                key=_FETCH,
                help=_(
                    "Then type a name such as google-bert/bert-base-uncased. Nothing is downloaded unless you tick "
                    "this."
                ),
            )
            pressed = st.form_submit_button(_("Add"), icon=":material/add:")
        if not pressed:
            return
        try:
            folder = _checked(typed or "", fetch=fetch)
        except HeadlightError as error:
            st.error(with_code(error.message), icon=":material/error:")
            return
    state.choose(checkpoint=catalogue.add(folder))
    st.rerun()


def _checked(typed: str, *, fetch: bool) -> Path:
    if not fetch:
        return models.checked(typed)
    with st.spinner(_("Downloading …")):
        return models.fetched(typed)


def tell_missing(names: list[str]) -> None:
    """Tell so where the address asks for a model that is not on the list."""
    missing = state.take_missing()
    if not missing:
        return
    shown = missing if len(missing) <= 100 else missing[:100] + " …"
    asks = said("The URL names the model “{name}”, which is not on the list.", name=shown)
    instead = [said("The model shown is “{name}”.", name=name) for name in names[:1]]
    if catalogue.can_add():
        offered = said("If you have its folder, add it on the left under “Add a model”.")
    else:
        offered = said("This server is shared and opens only the models on its list.")
    row = (asks, *instead, offered)
    notices.tell(reduce(lambda before, last: said("{before} {sentence}", before=before, sentence=last), row))


_BETWEEN_WORDS: Final = re.compile(r"[^a-z0-9]+")


@cache
def codes() -> Mapping[str, tuple[Page, str]]:
    """Name of a tab in addresses → its page and its label, in the order of the navigation.

    A page without tabs is one with its own name and no label.
    """
    known = {}
    for page in PAGES.values():
        name = page.address or "attention"
        for label in FIELDS[page.tab].options if page.has_tabs else ():
            known[f"{name}-{_BETWEEN_WORDS.sub('-', label.lower())}"] = (page, label)
        if not page.has_tabs:
            known[name] = (page, "")
    return known


def is_shown(field: str, label: str | None = None) -> bool:
    """Whether a page (by the field of the selection that names its open tab), or one of its tabs, is shown."""
    chosen = [codes()[code] for code in _chosen()]
    return not chosen or any(field == page.tab and label in (None, tab) for page, tab in chosen)


def _chosen() -> list[str]:
    """The tabs that are chosen and exist; one of a page that had tabs once is the page."""
    names = (code if code in codes() else code.partition("-")[0] for code in state.current().common.shown_tabs)
    return [name for name in dict.fromkeys(names) if name in codes()]


def choice() -> None:
    """The list in which a person chooses."""
    names = {
        code: f"{_(page.title)} › {_(label)}" if label else _(page.title) for code, (page, label) in codes().items()
    }
    st.multiselect(
        _("Tabs shown"),
        list(names),
        format_func=names.__getitem__,
        placeholder=_("All"),
        help=_("For a class: choose the tabs, then copy this page's link. Whoever opens it sees only these tabs."),
        **state.bound("shown_tabs", _chosen()),
    )


DEVICE_LABELS: Final = {"auto": said("Automatic"), "cpu": said("CPU"), "cuda": said("GPU")}
#: The label of the field, its placeholder, and the label of the button.
_ENGLISH: Final = (said("English sentence"), said("Type an English sentence"), said("Translate"))
_SOURCE: Final = (said("Source text"), said("Type a text to translate"), said("Translate"))
_TEXT: Final = (said("Text"), said("Type a text"), said("Read"))
#: What Headlight shows of a translator, and of any other model.
_TRANSLATOR: Final = said(
    "Every attention head of a Transformer, while it reads a sentence and writes its translation."
)
_OTHER: Final = said("Every attention head of a Transformer.")

#: Of the sentences of a session, how many fit before the list scrolls, and how many characters of each are shown.
_SENTENCES_SHOWN, _SENTENCE_LENGTH = 4, 70


def sidebar(checkpoints: Sequence[str]) -> Callable[[], object]:
    """The sentence, good examples, the checkpoint and the device; the same on every page.

    Returns:
        What is to be called after the page: it says what is known of a model only when it is opened.
    """
    with st.sidebar:
        st.header(_("Headlight"), anchor=False)
        reads_words = models.reads(state.current().model) in ("text", None)
        terms.caption(_(_TRANSLATOR if reads_words and _fields() is not _TEXT else _OTHER))
        _given()
        st.selectbox(
            _("Checkpoint"),
            checkpoints,
            format_func=catalogue.label,
            placeholder=_("None found"),
            disabled=not checkpoints,
            **state.bound("checkpoint", state.current().model.checkpoint or next(iter(checkpoints), None)),
        )
        about = st.empty()
        is_known = _about_model(about)
        add_model()
        _sentences()
        read = _settings(is_known=is_known)

    def complete() -> None:
        if not is_known:
            _about_model(about)
            if read is not None:
                _language(read)

    return complete


#: Pixels of the sentence below the settings, which would widen them.
_ABOUT_WIDTH: Final = 270


def _settings(*, is_known: bool) -> "DeltaGenerator | None":
    """What a person sets once, behind a button; where the language that is read goes if that is not known yet."""
    label = messages.in_every_language(said("Settings"))
    opened = st.popover(label, icon=":material/settings:", key="settings", on_change="rerun")
    # Its style keeps room for all of them: where it opens, up or down, is decided by what is in it.
    with opened.container(key="settings-body"):
        if not opened.open:
            return None
        theme_choice()
        _app_language()
        read = st.container()
        if is_known:
            _language(read)
        _device()
        choice()
        about = _(
            "Headlight shows every attention head of a Transformer. It runs on this machine and connects to no other."
        )
        st.caption(terms.explained(about), width=_ABOUT_WIDTH)
    return read


def _about_model(place: "DeltaGenerator") -> bool:
    """How exactly the chosen model is shown, of one that Headlight does not run itself, and its languages.

    Returns:
        Whether that is all that there is to say; what is known of a model only when it is opened, is said after the
        page that opens it.
    """
    choice = state.current().model
    verdict = models.verdict(choice)
    with place.container():
        if verdict is not None:
            terms.caption(_("Verification: {verdict}", verdict=verdict))
        _offered_languages(choice)
    return verdict != models.NOT_OPENED


def _offered_languages(choice: ModelChoice) -> None:
    """Between which languages a model translates that knows several, what it does, or which of its sides is read."""
    offered = models.offered(choice)
    shown = {"reads": choice.reads or offered.chosen[0], "writes": choice.writes or offered.chosen[1]}
    of_file = FILES.get(models.reads(choice))
    of_text = said("From"), said("Into"), said("What the text says: >>{code}<<")
    of_reads, of_writes, unsaid = of_text if of_file is None else of_file.told
    if models.sides(choice):
        of_reads = said("The model reads")
    for field, label, codes in (
        ("reads", of_reads, offered.reads),
        ("writes", of_writes, offered.writes if len(offered.writes) > 1 else ()),
    ):
        if not codes:
            continue
        labels = dict(sorted(((code, models.language_name(code)) for code in codes), key=lambda named: named[1]))
        if not shown[field]:
            labels = {"": _(unsaid, code=codes[0]), **labels}
        if shown[field] not in labels:
            # An address asked for it; the page says that the model does not know it.
            labels = {shown[field]: shown[field], **labels}
        controls.dropdown(field, _(label), labels, shown=shown[field])
    if offered.note:
        terms.caption(_(offered.note))


def _fields() -> tuple[Message, Message, Message]:
    """What the field for the text is called: only a translator promises a translation."""
    chosen = state.current().model
    if models.kind(chosen) is None or models.is_english_german(chosen):
        return _ENGLISH
    return _SOURCE if models.target_language(chosen) else _TEXT


def _app_language() -> None:
    """In which language the app speaks."""
    label = messages.in_every_language(said("Language"))
    controls.segmented("language", label, messages.languages(), shown=state.language())


def _language(place: "DeltaGenerator") -> None:
    """Which language is read, where the model's files do not say."""
    chosen = state.current().model
    if (
        models.reads(chosen) != "text"
        or models.languages_of_files(chosen)[0]
        or (models.offered(chosen).reads or models.sides(chosen))
    ):
        return
    names = ((code, _(name)) for code, name in NAMES.items())
    labels = {"": _("Not given")} | dict(sorted(names, key=lambda named: named[1]))
    help_text = _(
        "The model's files do not state the language. Examples, the included sets of sentences and the suggested "
        "texts depend on it."
    )
    shown = chosen.reads if chosen.reads in labels else ""
    with place:
        controls.dropdown("reads", _("Language"), labels, shown=shown, help_text=help_text)


def _device() -> None:
    """Where the model computes, if there is a choice; a link's device is always shown, so that it can be changed."""
    chosen = state.current().model.device
    if models.has_gpu() or chosen != "auto":
        offered = [name for name in DEVICES if name != "cuda" or chosen == "cuda" or models.has_gpu()]
        controls.segmented("device", _("Device"), {name: DEVICE_LABELS[name] for name in offered})


def _given() -> None:
    """What the model reads: a text or a file."""
    if (of_file := FILES.get(models.reads(state.current().model))) is not None:
        given_file.field(of_file)
        return
    kind = models.kind(state.current().model)
    label, placeholder, button = _fields()
    examples = _examples()
    has_template = models.has_chat_template(state.current().model)
    st.text_area(
        _(label),
        height=120,
        placeholder=_(placeholder),
        help=_("Press Ctrl + Enter or click elsewhere to run the model on this text."),
        **state.bound("text"),
    )
    if has_template:
        _chat()
    elif kind == "encoder":
        _second_text()
    with st.container(horizontal=True):
        icon = ":material/translate:" if button == "Translate" else ":material/search:"
        st.button(_(button), type="primary", icon=icon)
        if examples:
            st.menu_button(_("Examples"), examples, key="examples", format_func=_example_label, on_click=_take_example)
    example = next((example for example in examples if example.text == state.current().common.text), None)
    is_german = kind is None or models.is_english_german(state.current().model)
    if example is not None and example.look_for and (is_german or not example.only_in_german):
        terms.caption(_("**Look for:** {looked_for}", looked_for=controls.plain(_(example.look_for))))


def _chat() -> None:
    """Whether the text is read as a chat, and how one is typed."""
    help_text = _(
        "Attention, Decode and Side by side read the text inside the model's own chat template, as the library "
        "transformers does. An assistant's message at the end is left open, and the model continues it. Measurements "
        "over many sentences, Cause and Two models read texts without the template."
    )
    if controls.switch("chat", _("As a chat"), help_text):
        terms.caption(
            _(
                "The model's chat template is put around the text. A line that begins with “user:”, “assistant:” or "
                "“system:” starts a message; a text without such lines is a user message. The model writes as the "
                "assistant."
            )
        )


def _second_text() -> None:
    """The second text of a pair, which an encoder may read after the first."""
    help_text = _(
        "The model reads both texts as a pair, as its tokenizer joins them: A is the text above, B is this one. "
        "Attention, Learn and Side by side read every text with it; measurements over many sentences read single "
        "texts, without B."
    )
    st.text_area(
        _("Second text (optional)"),
        height=68,
        placeholder=_("For a pair of texts, such as a question and its answer"),
        help=help_text,
        **state.bound("second_text"),
    )


def _examples() -> tuple[Example, ...]:
    """The examples in the language that the model reads, and a chat for who reads chats; another one becomes the first
    of these.
    """
    examples = examples_in(models.languages(state.current().model)[0])
    if examples and models.reads_chat(state.current().model):
        examples = (*examples, CHAT_EXAMPLE)
    known = {example.text for example in examples}
    if examples and state.current().common.text in {example.text for example in ALL_EXAMPLES} - known:
        state.choose(text=examples[0].text)
    return examples


def _sentences() -> None:
    """What this session read before, each a click away."""
    before = [text for text in state.sentences() if text != state.current().common.text]
    if not before or models.reads(state.current().model) in FILES:
        return
    st.markdown(_("Sentences of this session"))
    with st.container(key="past-sentences", gap=None, height=180 if len(before) > _SENTENCES_SHOWN else "content"):
        for number, text in enumerate(before):
            shown = " ".join(text.split())
            label = shown if len(shown) <= _SENTENCE_LENGTH else f"{shown[:_SENTENCE_LENGTH]} …"
            st.button(
                controls.plain(label),
                key=f"past-sentence-{number}",
                type="tertiary",
                on_click=state.choose,
                kwargs={"text": text},
            )


def _example_label(example: Example) -> str:
    return controls.plain(" ".join(example.text.split()))


def _take_example() -> None:
    example = sent("examples")
    if isinstance(example, Example):
        state.choose(text=example.text, other_text=example.twin)
