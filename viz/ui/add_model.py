"""Add a model of one's own on the left: its folder, or its name on the hub where that is allowed."""

from pathlib import Path

import streamlit as st

from model.errors import HeadlightError
from viz.access import folders
from viz.selection import catalogue, state
from viz.server import limits
from viz.text.messages import _
from viz.ui.controls import plain

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
            st.caption(_(message, folders_variable=catalogue.FOLDERS_VARIABLE))
            return
        allowed = catalogue.folders_to_add_from()
        with st.form("add", border=False):
            typed = st.text_input(
                _("Folder"),
                key=_TYPED,
                placeholder=f"{allowed[0]}/…" if allowed else "/path/to/a/folder",
                help=_(
                    "A folder saved by transformers (BERT, GPT-2, Llama, T5, OPUS-MT, ViT …: safetensors and a "
                    "tokenizer), or a checkpoint of Headlight's own. It appears only on the list of this session."
                ),
            )
            fetch = catalogue.downloads_allowed() and st.checkbox(
                _("Download it from the Hugging Face hub"),
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
            st.error(plain(error.message), icon=":material/error:")
            return
    state.choose(checkpoint=catalogue.add(folder))
    st.rerun()


def _checked(typed: str, *, fetch: bool) -> Path:
    if not fetch:
        return folders.checked(typed)
    with st.spinner(_("Downloading …")):
        return folders.fetched(typed)


def say_missing(names: list[str]) -> None:
    """A sentence where the address asks for a model that is not on the list."""
    missing = state.take_missing()
    if not missing:
        return
    shown = missing if len(missing) <= 100 else missing[:100] + " …"
    asks = _("The URL names the model “{name}”, which is not on the list.", name=shown)
    instead = _("The model shown is “{name}”.", name=names[0]) if names else ""
    if catalogue.can_add():
        offered = _("If you have its folder, add it on the left under “Add a model”.")
    else:
        offered = _("This server is shared and opens only the models of its list.")
    st.info(plain(" ".join(filter(None, (asks, instead, offered)))), icon=":material/info:")
