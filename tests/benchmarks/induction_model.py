"""Train the small decoder that ships as checkpoints/induction, until its induction heads are there.

    python -m tests.benchmarks.induction_model --out checkpoints/induction

A Llama of two layers reads bytes. Its texts are strings of random letters of which a part comes again, at any distance:
nothing in them can be foreseen but what follows a copy, so all that it can learn is to look back for the last time that
the same letter stood there, and to say what followed (Elhage et al. 2021; Olsson et al. 2022).
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import time
from pathlib import Path
from typing import Final

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from torch.nn import functional

END: Final = "<|endoftext|>"
BATCH: Final = 64
#: Of the strings: the first until half of the training is over.
LENGTHS: Final = (32, 64, 256)
#: Letters that strings are made of: what people type, and the rest of ASCII that can be seen.
LETTERS: Final = [chr(code) for code in range(32, 127)] + ["\n"]


def byte_tokenizer() -> transformers.PreTrainedTokenizerFast:
    """A token for each of the 256 bytes, spelled as GPT-2 spells them, and one that ends a text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {sign: number for number, sign in enumerate(alphabet)} | {END: len(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END)


def new_model(vocab_size: int, end_id: int) -> transformers.LlamaForCausalLM:
    """Two layers of four heads with rotary positions, seeded."""
    torch.manual_seed(11)
    config = transformers.LlamaConfig(
        vocab_size=vocab_size, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=4, max_position_embeddings=1024, bos_token_id=end_id, eos_token_id=end_id,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def batch(letters: Tensor, generator: torch.Generator, length: int) -> tuple[Tensor, Tensor]:
    """Strings of random letters that come again, and which tokens can be foreseen.

    In half of the strings a part is read over and over, in the others a part comes again somewhere, once.
    """
    ids = letters[torch.randint(len(letters), (BATCH, length), generator=generator)]
    can_be_foreseen = torch.zeros(BATCH, length, dtype=torch.bool)
    for row in range(BATCH):
        size = int(torch.randint(4, length // 2, (), generator=generator))
        if row % 2:
            ids[row] = ids[row, :size].repeat(length // size + 1)[:length]
            can_be_foreseen[row, size + 1 :] = True
        else:
            first = int(torch.randint(0, length - 2 * size + 1, (), generator=generator))
            again = int(torch.randint(first + size, length - size + 1, (), generator=generator))
            ids[row, again : again + size] = ids[row, first : first + size]
            can_be_foreseen[row, again + 1 : again + size] = True
    return ids, can_be_foreseen


def train(out: Path, steps: int) -> None:
    """Train, and save model and tokenizer."""
    tokenizer = byte_tokenizer()
    end_id = int(tokenizer.eos_token_id)
    model = new_model(len(tokenizer), end_id)
    letters = torch.tensor([tokenizer(letter).input_ids[0] for letter in LETTERS])
    generator = torch.Generator().manual_seed(5)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps, pct_start=0.05)
    begun = time.monotonic()
    for step in range(1, steps + 1):
        length = LENGTHS[0] if step <= steps // 2 else LENGTHS[step % len(LENGTHS)]
        ids, foreseen = batch(letters, generator, length)
        logits = model(ids).logits[:, :-1]
        losses = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        losses = losses.view(BATCH, -1)
        optimizer.zero_grad()
        losses[foreseen[:, 1:]].mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps:
            right = logits.argmax(-1).eq(ids[:, 1:])[foreseen[:, 1:]].float().mean()
            print(
                f"step {step:,} of {steps:,}: loss {losses[foreseen[:, 1:]].mean():.3f} nats where it can be foreseen, "
                f"{right:.1%} right, {time.monotonic() - begun:.0f} s",
                flush=True,
            )
    model.half().save_pretrained(out)
    tokenizer.save_pretrained(out)


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=3_000)
    arguments = parser.parse_args()
    train(arguments.out, arguments.steps)


if __name__ == "__main__":
    stopping.leave(main)
