"""Documents in HTML, with formulas in MathML: one file that needs nothing else."""

import html
import re
from collections.abc import Iterable, Mapping

from dynlib.algebra import notation
from dynlib.algebra.lines import Row
from dynlib.derivation.parts import Block, Formula, Grid, Heading, Math, Paragraph, Text

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fff; --soft: #5b6475; --line: #d9dde5; --accent: #1f5fa8;
  --edge: rgb(0 0 0 / 0.2); }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --paper: #14171d; --soft: #a2abbb; --line: #343a46; --accent: #8ab8f0;
    --edge: rgb(255 255 255 / 0.28); }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.75rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
p { max-width: 46rem; }
a { color: var(--accent); }
nav ol { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 0; list-style: none; }
math { font-size: 1.08em; }
p math { font-size: 1em; }
/* brackets of any height, also where no font for formulas is installed */
.matrix { --tick: linear-gradient(currentcolor 0 0); border-inline: 0.09em solid; padding-inline: 0.3em;
  margin-inline: 0.2em; print-color-adjust: exact;
  background: var(--tick) 0 0, var(--tick) 0 100%, var(--tick) 100% 0, var(--tick) 100% 100%;
  background-size: 0.25em 0.09em; background-repeat: no-repeat; }
/* where there is more at a side, that side is in shadow: the shadows stay and what covers them moves with the text */
.scroll { overflow-x: auto; margin: 0.75rem 0; padding: 0.25rem 0; background:
  linear-gradient(to right, var(--paper) 40%, transparent) 0 0 / 3rem 100% no-repeat local,
  linear-gradient(to left, var(--paper) 40%, transparent) 100% 0 / 3rem 100% no-repeat local,
  linear-gradient(to right, var(--edge), transparent) 0 0 / 0.8rem 100% no-repeat scroll,
  linear-gradient(to left, var(--edge), transparent) 100% 0 / 0.8rem 100% no-repeat scroll; }
.step { display: grid; grid-template-columns: max-content max-content minmax(max-content, 1fr); align-items: center;
  gap: 0.35rem 0.4rem; }
.step > :nth-child(3n + 1) { text-align: right; }
.step > :nth-child(3n) { text-align: right; color: var(--soft); font-size: 0.9rem; padding-left: 1.25rem; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.75rem 0.3rem 0; text-align: left; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
@media print {
  .scroll { overflow: visible; background: none; break-inside: avoid; }
  h2, h2 + p, p:has(+ .scroll) { break-after: avoid; }
}
"""


def _html(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document as one HTML file with MathML."""
    blocks = list(blocks)
    title = next(block for block in blocks if isinstance(block, Heading))
    sections = [block for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<li><a href="#{each.key}">{_html_text(each.text)}</a></li>' for each in sections)
    contents = f'<nav aria-label="{html.escape(words["contents"])}"><ol>{links}</ol></nav>'
    body = "\n".join(_html_block(block) + ("\n" + contents if block is title else "") for block in blocks)
    return (
        f'<!DOCTYPE html>\n<html lang="{words["language"]}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_plain(title.text)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _plain(text: Text) -> str:
    return html.escape("".join(notation.text(part) if isinstance(part, Math) else part for part in text))


def _html_block(block: Block) -> str:
    match block:
        case Heading(level, text, key):
            return f'<h{level} id="{key}">{_html_text(text)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_html_text(text)}</p>"
        case Formula(rows):
            cells = "\n".join(_html_row(row) for row in rows)
            return f'<div class="scroll" tabindex="0"><div class="step">\n{cells}\n</div></div>'
        case Grid(head, rows):
            top = "".join(f'<th scope="col">{_html_text((cell,))}</th>' for cell in head)
            body = "\n".join("<tr>" + "".join(f"<td>{_html_text((c,))}</td>" for c in row) + "</tr>" for row in rows)
            table = f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
            return f'<div class="scroll" tabindex="0">{table}</div>'


def _html_row(row: Row) -> str:
    number = f"<span>({html.escape(row.source)})</span>" if row.source else "<span></span>"
    return f"<div>{_mathml(row.left)}</div><div>{_mathml(row.right)}</div>{number}"


def _html_text(text: Text) -> str:
    return "".join(_mathml(part) if isinstance(part, Math) else html.escape(part) for part in text)


def _mathml(tex: str) -> str:
    """Return MathML of TeX; what stands upright in TeX does so here, too; our style draws the brackets of a matrix."""
    try:
        from latex2mathml.converter import convert
    except ImportError:
        raise ImportError("HTML needs the package latex2mathml for its formulas: pip install latex2mathml") from None
    if not tex:
        return ""
    upright = re.sub(r"\\mathrm\{((?:\w|\\,)+)\}", lambda found: rf"\text{{{found[1]}}}".replace(r"\,", " "), tex)
    shown: str = convert(upright.replace(r"\quad ", r"\quad{}"))
    for theirs, ours in (
        ('<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">', '<math displaystyle="true">'),
        ("<mo>&#x0005B;</mo><mtable>", '<mtable class="matrix">'),
        ("</mtable><mo>&#x0005D;</mo>", "</mtable>"),
    ):
        shown = shown.replace(theirs, ours)
    return shown
