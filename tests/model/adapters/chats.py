"""Chat templates of our own in the forms that models use, and folders of decoders that have one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.model.adapters.zoo import save_tokenizer, tiny

#: Each message between marks, and the assistant's begun.
MARKED: Final = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
#: The system's text goes into the first message of the user; contents are trimmed.
BRACKETS: Final = (
    "{% set offset = 0 %}{% set lead = '' %}"
    "{% if messages[0].role == 'system' %}{% set offset = 1 %}"
    "{% set lead = '<<SYS>>\n' + messages[0].content + '\n<</SYS>>\n\n' %}{% endif %}"
    "{% for m in messages[offset:] %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must take turns.') }}{% endif %}"
    "{% if m.role == 'user' %}"
    "{{ bos_token + '[INST] ' + ((lead if loop.first else '') + m.content).strip() + ' [/INST]' }}"
    "{% else %}{{ ' ' + m.content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}"
)
#: Contents are trimmed, and a system's message is refused.
TRIMMED: Final = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "{{ '<turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + m['content'] | trim + '</turn>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<turn>model\n' }}{% endif %}"
)
#: A standing system message, and its own text where a person gave none.
DEFAULT_SYSTEM: Final = (
    "{% if messages[0].role != 'system' %}SYSTEM: Be brief.\n{% endif %}"
    "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
#: Only the last two messages are kept.
FORGETFUL: Final = (
    "{% for m in messages[-2:] %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
#: What the assistant thought in earlier messages is cut away: the template looks into contents.
LOOKING: Final = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content.split('</think>')[-1] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|begin|>assistant\n{% endif %}"
)
FORMS: Final = {
    "marked": MARKED,
    "brackets": BRACKETS,
    "trimmed": TRIMMED,
    "default system": DEFAULT_SYSTEM,
    "forgetful": FORGETFUL,
}


def save_chat_model(
    folder: Path, template: object = MARKED, model_type: str = "llama", tokenizer: str = "bytes", **config: Any
) -> Path:
    """A folder with a small random decoder whose tokenizer_config.json has this chat template."""
    tiny(model_type, changes={"max_position_embeddings": 512}).save_pretrained(folder)
    save_tokenizer(folder, tokenizer)
    put_template(folder, template, **config)
    return folder


def put_template(folder: Path, template: object, **config: Any) -> None:
    """Write a chat template, and other settings, into a tokenizer_config.json."""
    path = folder / "tokenizer_config.json"
    settings: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**settings, "chat_template": template, **config}), encoding="utf-8")
