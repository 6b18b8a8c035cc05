"""Make the example sound: a sentence spoken by eSpeak NG, and when each of its words begins and ends.

python .packaging/speak_example.py      needs eSpeak NG (Debian: apt-get install espeak-ng)

Writes example_sound.flac and example_sound.csv into model/sources/. The synthesizer says where in its samples each word
begins; a word ends where the next one or a pause begins.
"""

import ctypes
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile
import soxr

TEXT: Final = "The animal didn't cross the street because it was too tired."
VOICE, WORDS_A_MINUTE = b"en-us+m7", 145
RATE: Final = 16_000
#: Seconds of silence before and after.
SILENCE: Final = 0.5
FOLDER: Final = Path(__file__).parents[1] / "model" / "sources"

#: Of speak_lib.h: no playing, phonemes told too; the parameter of the speed; UTF-8; kinds of events.
SYNCHRONOUS, TELL_PHONEMES, SPEED, UTF_8 = 2, 1, 1, 1
END_OF_LIST, WORD, PHONEME = 0, 1, 7


class Event(ctypes.Structure):
    """`espeak_EVENT`; a phoneme's identity is eight bytes of its name."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("name", ctypes.c_char * 8),
    )


def spoken(text: str) -> tuple[np.ndarray[Any, Any], int, list[Event]]:
    """Samples of 16 bits, how many there are a second, and what happens when."""
    library = ctypes.CDLL("libespeak-ng.so.1")
    blocks: list[np.ndarray[Any, Any]] = []
    events: list[Event] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event))
    def receive(samples: Any, count: int, told: Any) -> int:
        if samples:
            blocks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        number = 0
        while told[number].type != END_OF_LIST:
            events.append(Event.from_buffer_copy(told[number]))
            number += 1
        return 0

    rate = library.espeak_Initialize(SYNCHRONOUS, 0, None, TELL_PHONEMES)
    library.espeak_SetVoiceByName(VOICE)
    library.espeak_SetParameter(SPEED, WORDS_A_MINUTE, 0)
    library.espeak_SetSynthCallback(receive)
    content = text.encode()
    library.espeak_Synth(content, ctypes.c_size_t(len(content) + 1), 0, 1, 0, UTF_8, None, None)
    library.espeak_Synchronize()
    return np.concatenate(blocks), rate, events


def main() -> None:
    """Write both files."""
    samples, rate, events = spoken(TEXT)
    words = [word.strip(".") for word in TEXT.split()]
    starts = [event.sample for event in events if event.type == WORD]
    assert len(words) == len(starts)
    pauses = [event.sample for event in events if event.type == PHONEME and event.name.startswith(b"_")]
    ends = [min(sample for sample in (*starts, *pauses) if sample > start) for start in starts]
    silence = np.zeros(round(SILENCE * rate))
    sound = soxr.resample(np.concatenate([silence, samples / 32_768, silence]), rate, RATE, quality="VHQ")
    soundfile.write(FOLDER / "example_sound.flac", sound, RATE, subtype="PCM_16")
    rows = (
        (word, SILENCE + start / rate, SILENCE + end / rate)
        for word, start, end in zip(words, starts, ends, strict=True)
    )
    lines = [f"{word},{start:.3f},{end:.3f}" for word, start, end in rows]
    (FOLDER / "example_sound.csv").write_text("\n".join(["word,start,end", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
