"""What a model read: a text, a picture or a sound, the positions that its encoder sees, and what of it a file keeps.

Whoever shows a trace asks its `Source`, never which kind it is. Nothing here knows how a model reads.
"""

from collections.abc import Mapping
from typing import Final

from model.sources.source import PictureSource, SoundSource, Source, TextSource

SOURCES: Final[Mapping[str, type[Source]]] = {kind.kind: kind for kind in (TextSource, PictureSource, SoundSource)}
