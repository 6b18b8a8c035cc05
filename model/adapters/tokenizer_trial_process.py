"""The program that `inspect_folder` runs under limits: open a folder's tokenizer, and say what is wrong with it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from model.adapters.config_limits import check_files
from model.adapters.limited_process import serve

MOST_TOKENS: Final = 2_000_000
#: Tokens for each byte of a text, and beside these, that are believed.
MOST_FOR_A_BYTE: Final = 8
MOST_BESIDE: Final = 512


def texts() -> Iterator[str]:
    """Texts of every kind: ordinary, every printable character of the first plane, and repetitions that regular
    expressions stumble over.
    """
    yield "a"
    yield "The animal didn't cross the street because it was too tired. " * 20
    printable = [chr(code) for code in range(0x20, 0xFFFF) if chr(code).isprintable()]
    yield " ".join("".join(printable[start : start + 12]) for start in range(0, len(printable), 12))
    for repeated in ("a", "1", " ", ".", "\n"):
        yield repeated * 300 + "!"


def wrong_with(tokenizer: Any) -> str:
    """What is wrong with a tokenizer, as a part of a sentence; "" if nothing is."""
    from transformers import PreTrainedTokenizerBase

    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        return f"{type(tokenizer).__name__[:60]} is none that cuts one text into tokens"
    if len(tokenizer) > MOST_TOKENS or len(tokenizer.get_vocab()) > MOST_TOKENS:
        return f"it has {len(tokenizer):,} tokens; at most {MOST_TOKENS:,} can be read"
    for text in texts():
        token_ids = tokenizer(text, verbose=False)["input_ids"]
        if len(token_ids) > MOST_FOR_A_BYTE * len(text.encode()) + MOST_BESIDE:
            return f"it makes {len(token_ids):,} tokens of {len(text):,} characters"
        if getattr(tokenizer, "separate_vocabs", False):
            # Only ids of a target are of the vocabulary by which ids are spelled.
            token_ids = tokenizer(text_target=text, verbose=False)["input_ids"]
        tokenizer.convert_ids_to_tokens(token_ids)
        tokenizer.decode(token_ids[:2_000], skip_special_tokens=True)
    return ""


def answer_to(folder: str) -> dict[str, str]:
    """What is wrong with the tokenizer in a folder."""
    check_files(Path(folder))
    from transformers import AutoTokenizer

    opened: Any = AutoTokenizer.from_pretrained
    return {"wrong": wrong_with(opened(folder, local_files_only=True, trust_remote_code=False))}


if __name__ == "__main__":
    # A tokenizer needs no torch, which takes seconds to import and most of the memory.
    sys.modules["torch"] = None  # type: ignore[assignment]
    serve(answer_to)
