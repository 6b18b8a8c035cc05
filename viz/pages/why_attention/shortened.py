"""Cut a translation that goes on and on, and let an endless word break across lines."""

import re
from typing import Final

#: So many characters of a translation are shown.
MAX_SHOWN: Final = 160
#: So many letters without a space get a place where a line may end, which is not seen.
_ENDLESS: Final = re.compile(r"\S{18}(?=\S)")


def shortened(translation: str) -> str:
    """A translation that goes on and on with its end cut off; an endless word may break across lines."""
    shown = translation if len(translation) <= MAX_SHOWN else translation[:MAX_SHOWN] + " …"
    return _ENDLESS.sub("\\g<0>\u200b", shown)
