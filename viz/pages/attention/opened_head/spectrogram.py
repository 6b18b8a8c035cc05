"""The log-mel spectrogram of a sound, as small as it is drawn."""

from typing import Final

import numpy as np
from jaxtyping import Float32, Int16, UInt8

BANDS: Final = 80
"""Rows, evenly spaced in mel up to half the sampling rate; Whisper reads as many."""
MOST_COLUMNS: Final = 600
_WINDOW, _HOP = 0.025, 0.010  #: seconds of a spectrum, and from one to the next
_DECADES: Final = 7.0
"""What lies so many powers of ten below the strongest is drawn as nothing."""
_QUIET: Final = -2.0
"""The power, as its logarithm, that counts as the strongest of a sound in which all is weaker: silence stays empty."""


def log_mel(samples: Int16[np.ndarray, "sample"], rate: int) -> UInt8[np.ndarray, "band column"]:
    """The power in each band and span of time, from low bands to high ones: 255 is the strongest, 0 seven decades less.

    A column holds the mean over an equal part of the sound's length.
    """
    spectra = _power(samples.astype(np.float32) / np.float32(32_768), rate)
    columns = min(MOST_COLUMNS, len(spectra))
    starts = np.arange(columns) * len(spectra) // columns
    sums = np.add.reduceat(spectra, starts, axis=0)
    means = sums / np.diff(starts, append=len(spectra))[:, None]
    levels = np.log10(np.maximum(_filters(rate, spectra.shape[1]) @ means.T, 1e-10))
    shares = 1 - (max(float(levels.max()), _QUIET) - levels) / _DECADES
    return np.rint(255 * np.clip(shares, 0, 1)).astype(np.uint8)


def _power(samples: Float32[np.ndarray, "sample"], rate: int) -> Float32[np.ndarray, "time frequency"]:
    """Power spectra of Hann windows, the first of which has its middle at the beginning."""
    window, hop = round(_WINDOW * rate), round(_HOP * rate)
    padded = np.pad(samples, (window // 2, window))
    count = -(-len(samples) // hop)
    framed = np.lib.stride_tricks.sliding_window_view(padded, window)[: count * hop : hop]
    # Zeros are filled in so that the narrowest bands have a frequency, too.
    length = 1 << (2 * window - 1).bit_length()
    spectra = np.fft.rfft(framed * np.hanning(window).astype(np.float32), length)
    power: Float32[np.ndarray, "time frequency"] = (np.abs(spectra) ** 2).astype(np.float32)
    return power


def _filters(rate: int, frequencies: int) -> Float32[np.ndarray, "band frequency"]:
    """Triangles that overlap by half, by mel = 2595 log10(1 + hertz / 700)."""
    edges = 700 * (10 ** (np.linspace(0, 2_595 * np.log10(1 + rate / 1_400), BANDS + 2) / 2_595) - 1)
    hertz = np.linspace(0, rate / 2, frequencies)[None]
    low, middle, high = (edges[first : first + BANDS, None] for first in range(3))
    rising, falling = (hertz - low) / (middle - low), (high - hertz) / (high - middle)
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)
