"""Documents in LaTeX: one file that pdflatex turns into pages."""

from collections.abc import Iterable, Mapping

from dynlib.algebra import lines
from dynlib.derivation.parts import Block, Formula, Grid, Heading, Math, Paragraph, Text

_LATEX = r"""\documentclass[a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{textcomp}
\setlength{\textwidth}{170mm}
\setlength{\oddsidemargin}{-5mm}
\setlength{\textheight}{247mm}
\setlength{\topmargin}{-15mm}
\setlength{\parindent}{0pt}
\setlength{\parskip}{1ex}
\setcounter{MaxMatrixCols}{20}
\allowdisplaybreaks
"""


def _latex(blocks: Iterable[Block], words: Mapping[str, str]) -> str:
    """Return the document as LaTeX of the article class; of packages it needs amsmath only."""
    body = "\n\n".join(_latex_block(block) for block in blocks)
    return f"{_LATEX}\\begin{{document}}\n\n{body}\n\n\\end{{document}}\n"


def _latex_block(block: Block) -> str:
    match block:
        case Heading(1, text, _):
            return rf"\begin{{center}}\LARGE {_latex_text(text)}\end{{center}}"
        case Heading(_, text, _):
            return rf"\section{{{_latex_text(text)}}}"
        case Paragraph(text):
            return _latex_text(text)
        case Formula(rows):
            return lines.aligned(rows)
        case Grid(head, rows):
            printed = [" & ".join(_latex_text((cell,)) for cell in line) + r" \\" for line in (head, *rows)]
            body = "\n".join([r"\hline", printed[0], r"\hline", *printed[1:], r"\hline"])
            size = r"\footnotesize" if len(head) > 6 else r"\small"
            table = rf"\begin{{tabular}}{{{'l' * len(head)}}}" + f"\n{body}\n" + r"\end{tabular}"
            return rf"\begin{{center}}{size}\setlength{{\tabcolsep}}{{3pt}}" + f"\n{table}\n" + r"\end{center}"


_LATEX_LETTERS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
_LATEX_LETTERS |= {
    letter: f"${letter_tex}$" for letter, letter_tex in {"α": r"\alpha", "²": "^2", "<": "<", ">": ">"}.items()
}
_LATEX_LETTERS |= {letter: "\\" + letter for letter in "{}_&%$#"}


def _latex_text(text: Text) -> str:
    escaped = (
        f"${part}$" if isinstance(part, Math) else "".join(_LATEX_LETTERS.get(c, c) for c in part) for part in text
    )
    return "".join(escaped)
