"""Which model is asked, how it reads a text, and where it computes."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, get_args

from viz.selection.fields import MaxLength, ResetBy, SessionOnly

Device = Literal["auto", "cpu", "cuda"]
#: Characters of a language's code: "zho_Hans", "pt_BR".
LONGEST_CODE: Final = 12
DEVICES: Final[tuple[Device, ...]] = get_args(Device)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model and its device."""

    checkpoint: str = ""  #: its name in the catalogue; "" is the first of the list
    device: Device = "auto"  #: where it computes; "auto" is the graphics card where there is one
    #: where it is on disk, if only this session has it on its list; "" else. An address never says it.
    folder: Annotated[str, SessionOnly()] = ""
    #: the language that it reads, by its code, if a person said it: one of many, or one that its files do not tell; ""
    #: else.
    reads: Annotated[str, MaxLength(LONGEST_CODE), ResetBy("checkpoint")] = ""
    #: the code of the language that it writes, if it lets one choose and a person did; "" else.
    writes: Annotated[str, MaxLength(LONGEST_CODE), ResetBy("checkpoint")] = ""
    chat: bool = True  #: whether a model that has a chat template reads the text as a chat
