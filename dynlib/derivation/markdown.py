"""Documents in Markdown, with formulas that notebooks and web pages set."""

import re
from collections.abc import Iterable, Mapping

from dynlib.algebra import lines
from dynlib.derivation.parts import Block, Formula, Grid, Heading, Math, Paragraph, Text

# How it looks ---------------------------------------------------------------------------------------------------------


def _markdown(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document in Markdown with formulas between dollar signs."""
    return "\n\n".join(_markdown_block(block) for block in blocks) + "\n"


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(level, text, _):
            return "#" * level + " " + _markdown_text(text)
        case Paragraph(text):
            return _markdown_text(text)
        case Formula(rows):
            return "$$\n" + lines.aligned(rows, "aligned") + "\n$$"
        case Grid(head, rows):
            first, *others = ("| " + " | ".join(_markdown_text((c,)) for c in line) + " |" for line in (head, *rows))
            return "\n".join([first, "|" + " --- |" * len(head), *others])


def _markdown_text(text: Text) -> str:
    escaped = (
        f"${part}$" if isinstance(part, Math) else re.sub(r"([\\`*_{}\[\]<>|$#])", r"\\\1", part) for part in text
    )
    return "".join(escaped)
