"""Take files that people give: one field, with a limit on their size that holds whatever a browser sends."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import streamlit as st

from model.errors import DataError
from viz.server import limits

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

#: Megabytes that a file may have where its field says nothing else, and the most that one can say: as many as
#: `server.maxUploadSize` in `config.toml`.
MEGABYTES: Final = 5


def most(megabytes: int = MEGABYTES) -> int:
    """Megabytes that a file may have in a field that usually takes so many: no more than the server lets through."""
    server: int = st.get_option("server.maxUploadSize")
    return min(limits.rules().most_megabytes(megabytes), server, MEGABYTES)


def field(
    label: str,
    *,
    key: str,
    megabytes: int = MEGABYTES,
    help_text: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> "UploadedFile | None":
    """A field for a file of at most so many megabytes (a server may take fewer), and the file that is in it, if any."""
    # The name of a type that is refused would be Streamlit's to tell; ours says what was expected.
    return st.file_uploader(label, key=key, help=help_text, max_upload_size=most(megabytes), on_change=on_change)


def content(file: "UploadedFile", megabytes: int = MEGABYTES) -> bytes:
    """What is in a file, as large as its field may take. The field's own limit holds in the browser only.

    Raises a DataError if it is larger.
    """
    if file.size > most(megabytes) * 1024**2:
        message = "{name} has {size:,.1f} MB; expected at most {most} MB. Choose a smaller file."
        raise DataError(message, name=file.name, size=file.size / 1024**2, most=most(megabytes))
    return file.getvalue()
