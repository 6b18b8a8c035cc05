"""Find the folders with models in them, as people name them; nothing is loaded here."""

from pathlib import Path

from model import later
from model.errors import CheckpointError
from model.folder_files import hub_folder
from viz.selection import catalogue


def checked(path: str) -> Path:
    """A folder that a person names, once it is clear that a model lies in it; nothing of the model is loaded.

    Raises a CheckpointError if it is none, is not to be looked into, or holds no model that can be opened; the message
    says what works.
    """
    catalogue.check_may_name_folders()
    return later.inspect_folder.folder_with_model(path, catalogue.folders_to_add_from())


def fetched(name: str) -> Path:
    """The folder of a model of the hub, fetched where that is needed; only for who is allowed to.

    Raises a CheckpointError if it is not allowed, there is no such model, or it cannot be fetched or opened.
    """
    catalogue.check_may_name_folders()
    if not catalogue.downloads_allowed():
        raise CheckpointError(
            "This server does not download models. Start it with {downloads_variable}=1 in its environment to allow "
            "that, or download the model yourself and give its folder.",
            downloads_variable=catalogue.DOWNLOADS_VARIABLE,
        )
    return later.inspect_folder.folder_with_model(str(hub_folder(name.strip())))
