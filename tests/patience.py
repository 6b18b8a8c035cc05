"""How long a test waits for what must come."""

from typing import Final

#: Seconds: a loaded machine is no failure. The test's time limit (pyproject.toml) ends what never comes as well.
PATIENCE: Final = 300.0
