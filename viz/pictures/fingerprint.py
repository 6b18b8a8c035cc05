"""Fingerprint what is shown, so that a component sees whether anything but its selection has changed."""

import hashlib
import struct

import numpy as np
from numpy.typing import NDArray


def digest(*parts: str | NDArray[np.generic]) -> str:
    """A short fingerprint of texts and arrays."""
    fingerprint = hashlib.blake2b(digest_size=8)
    for part in parts:
        content = part.encode("utf-8") if isinstance(part, str) else part.tobytes()
        # The length keeps ("ab", "c") apart from ("a", "bc").
        fingerprint.update(struct.pack("<Q", len(content)))
        fingerprint.update(content)
    return fingerprint.hexdigest()
