"""Modules are set aside from the search for garbage, which Streamlit makes after every run while all viewers wait.

It looks at every object of the process that may hold another one: some 400,000 once torch and transformers are there,
which takes a quarter of a second in which no session runs. Nearly all of them are parts of modules and stay as long as
the process. Knows nothing of pages.
"""

import gc
import sys

_set_aside = 0


def set_modules_aside() -> None:
    """At the end of a run that has imported something; after any other, nothing.

    What else there is at that moment is set aside as well, and is freed all the same when nothing refers to it any
    more. Only what refers to itself in a circle would not be: garbage of that kind is collected before, and the models
    and traces that pages keep are none of it.
    """
    global _set_aside
    if len(sys.modules) > _set_aside:
        _set_aside = len(sys.modules)
        gc.collect()
        gc.freeze()
