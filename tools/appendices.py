"""Write the two pages that say where each equation and each erratum is dealt with, and which check guards it.

``python -m tools.appendices`` writes ``book/equations.md`` and ``book/errata.md`` from the registry in
``book/registry`` and from the calls ``check.equation("A5.2.6-26", ...)`` and ``check.erratum("E4", ...)`` in the
notebooks. ``--check`` writes nothing and exits with 1 if a page is stale.

A call counts only where it is sure to run with its cell, and only if its number is a literal string.
"""

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it.renderer import RendererHTML
from markdown_it.tree import SyntaxTreeNode
from myst_parser.config.main import MdParserConfig
from myst_parser.mdit_to_docutils.base import compute_unique_slug
from myst_parser.parsers.mdit import create_md_parser

from tools.files import write_text

BOOK = Path(__file__).resolve().parent.parent / "book"
LANGUAGE = "en"
HEADING_DEPTH = 3  # deepest heading with an anchor: myst_heading_anchors in _config.yml
CODE_WIDTH = 90  # longest line of code that is shown

TEXT: dict[str, dict[str, str]] = {
    "generated": {"en": "Written by `python -m tools.appendices` from book/registry and the chapters. Do not edit."},
    "equations title": {"en": "Equations"},
    "equations intro": {
        "en": "The course follows two source documents: A, lecture notes on the dynamics of serial arms, and B, the "
        "formulas of a planar closed-chain arm with three legs. Document A does not number its equations: A5.2.6-1 and "
        "so on are this course's own numbers, made of the section and the place in it. Here are all numbered equations "
        "as the document prints them (document B is damaged: its formulas are given as they can be read). The letters "
        "s and c are short for sine and cosine. Below each equation you see where the course derives it and the line "
        "of code that guards it; the link leads to that line. It compares the value that is computed with the formula "
        "typed by hand in the same cell or shortly before, and if the two differed it would stop the chapter; the "
        "formula shown here is for reading. Where nothing is typed and two computations are compared, that is said."
    },
    "equations count": {
        "en": "Of {total} numbered equations, asserted by a check: {asserted}; definitions, laws and assumptions, "
        "which cannot be derived: {given}; **open**, not yet derived in this book: {open}."
    },
    "own count": {
        "en": "The book adds {total} equations of its own, with a number that ends in c. Asserted by a check: "
        "{asserted}; **open**: {open}."
    },
    "section A5.2.2": {"en": "A5.2.2 Newton–Euler equations of one link"},
    "section A5.2.3": {"en": "A5.2.3 Outward recursion: motion"},
    "section A5.2.4": {"en": "A5.2.4 Inward recursion: forces"},
    "section A5.2.5": {"en": "A5.2.5 What the joint supplies"},
    "section A5.2.6": {"en": "A5.2.6 Planar 2R by Newton–Euler"},
    "section A5.3.1": {"en": "A5.3.1 Generalized coordinates"},
    "section A5.3.2": {"en": "A5.3.2 Lagrange's equations and the planar 2R"},
    "section B1": {"en": "B1 Position of the closed chain"},
    "section B3": {"en": "B3 Energy and torques of the closed chain"},
    "section B3c": {"en": "B3c Corrected equations of the closed chain"},
    "definition": {"en": "Definition."},
    "postulate": {"en": "Law or assumption."},
    "derived": {"en": "Derived in {places}."},
    "derived open": {"en": "**Open**: not yet derived in this book."},
    "corrected": {"en": "Wrong or incomplete as printed ({errata}). Corrected in {places}."},
    "corrected open": {
        "en": "Wrong or incomplete as printed ({errata}). **Open**: not yet corrected by a computation."
    },
    "given checked": {"en": "Used in {places}."},
    "replaced by": {"en": "In this book: {numbers}."},
    "replaces": {"en": "This book's own, in place of {numbers}."},
    "own": {"en": "This book's own."},
    "see also": {"en": "See also {errata}."},
    "not typed": {"en": "The line compares two computations; the formula above is not typed there."},
    "place": {"en": "[{heading}]({link}), guarded by {code}"},
    "mention": {"en": "[{heading}]({link})"},
    "and": {"en": "; and in "},
    "errata title": {"en": "Errata"},
    "errata intro": {
        "en": "What is wrong, missing or easy to misread in the two source documents, and the computation that shows "
        "it. The formulas themselves are in [](equations.md)."
    },
    "errata count": {
        "en": "Of {total} entries, shown by a computation: {asserted}; wording, with nothing to compute: {given}; "
        "**open**, not yet shown: {open}."
    },
    "document A": {"en": "Document A"},
    "document B": {"en": "Document B"},
    "grade wrong": {"en": "wrong"},
    "grade misleading": {"en": "misleading"},
    "grade omission": {"en": "omission"},
    "grade notation": {"en": "notation"},
    "grade typo": {"en": "slip of writing"},
    "grade ambiguity": {"en": "ambiguity"},
    "printed": {"en": "**In the document:** {text}"},
    "correction": {"en": "**Correction:** {text}"},
    "reason": {"en": "**Why:** {text}"},
    "shown": {"en": "**Check:** in {places}."},
    "shown open": {"en": "**Check:** **open**."},
    "wording": {"en": "**Check:** wording, nothing to compute."},
}


def text(key: str, **values: object) -> str:
    """Return a sentence of the pages in the language of the book."""
    return TEXT[key][LANGUAGE].format(**values)


class AppendixError(ValueError):
    """Something in the registry or in a notebook that the pages cannot be made from."""


# ---- The registry --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Equation:
    """One numbered equation, as its document prints it."""

    number: str
    document: str
    section: str
    kind: str
    about: str
    tex: str
    errata: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    typed: bool = True

    @property
    def own(self) -> bool:
        """True for an equation of the book itself."""
        return self.number.endswith("c")

    @property
    def needs_check(self) -> bool:
        """True unless it is a definition or a postulate."""
        return self.kind in {"derived", "corrected"}


@dataclass(frozen=True)
class Erratum:
    """One thing that is wrong, missing or easy to misread in a document."""

    id: str
    document: str
    where: str
    equations: tuple[str, ...]
    grade: str
    check: bool
    printed: str
    correction: str
    reason: str


@dataclass(frozen=True)
class Registry:
    """All equations and errata, in the order of the documents."""

    equations: tuple[Equation, ...]
    errata: tuple[Erratum, ...]


def load_registry(book: Path = BOOK) -> Registry:
    """Return the registry that stands in ``book/registry``."""
    equations = [Equation(**entry) for entry in _entries(book / "registry" / "equations.toml", "equation")]
    errata = [Erratum(**entry) for entry in _entries(book / "registry" / "errata.toml", "erratum")]
    return Registry(tuple(equations), tuple(errata))


def _entries(path: Path, name: str) -> Iterator[dict]:
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))[name]:
        yield {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


# ---- The checks in the notebooks -----------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A part of a chapter: its title and nearest heading, and the address that leads there."""

    heading: str
    link: str


@dataclass(frozen=True)
class Check(Place):
    """A call of ``check.equation`` or ``check.erratum`` in a notebook; the link leads to its cell."""

    page: str
    function: str
    number: str
    code: str


def find_checks(book: Path = BOOK) -> list[Check]:
    """Return the checks of all notebooks of the book, page by page from top to bottom."""
    return [check for path in _notebooks(book) for check in scan_notebook(book / path, path)[0]]


def find_mentions(book: Path = BOOK) -> dict[str, list[Place]]:
    """Return where each chapter first links to an equation, by its anchor."""
    found: dict[str, list[Place]] = {}
    for path in _notebooks(book):
        for anchor, place in scan_notebook(book / path, path)[1].items():
            found.setdefault(anchor, []).append(place)
    return found


def _notebooks(book: Path) -> list[str]:
    notebooks = [path.relative_to(book) for path in book.rglob("*.ipynb")]
    return sorted(path.as_posix() for path in notebooks if not any(part[0] in "._" for part in path.parts))


def scan_notebook(path: Path, page: str) -> tuple[list[Check], dict[str, Place]]:
    """Return the checks of a notebook, and the equations to which its text links; ``page`` is its path on the site."""
    parser = create_md_parser(MdParserConfig(enable_extensions={"amsmath", "colon_fence", "dollarmath"}), RendererHTML)
    slugs: list[str] = []
    title, heading = "", page
    checks: list[Check] = []
    mentions: dict[str, Place] = {}
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells, start=1):
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown" and not tags & {"remove-cell", "remove_cell"}:
            for node in SyntaxTreeNode(parser.parse(cell.source)).walk():
                if node.type == "heading" and int(node.tag[1]) <= HEADING_DEPTH:
                    slugs.append(compute_unique_slug(node, slugs))
                    title = title or _plain(node)
                    heading = title if len(slugs) == 1 else f"{title}, {_plain(node)}"
                elif node.type == "link" and str(node.attrs["href"]).startswith("#eq-"):
                    place = Place(heading, f"{page}#{slugs[-1]}" if slugs else page)
                    mentions.setdefault(str(node.attrs["href"])[1:], place)
        elif cell.cell_type == "code":
            for function, number, code in scan_cell(cell.source, f"{page}, cell {index}", tags):
                checks.append(Check(heading, f"#cell-{cell.id}", page, function, number, code))
    return checks, mentions


def _plain(heading: SyntaxTreeNode) -> str:
    """Return the text of a heading with its formulas and code, without links and emphasis."""
    quotes = {"text": "", "code_inline": "`", "math_inline": "$"}
    parts = [(node.content, quotes[node.type]) for node in heading.walk() if node.type in quotes]
    return "".join(quote + content + quote for content, quote in parts)


def scan_cell(source: str, where: str, tags: Iterable[str] = ()) -> list[tuple[str, str, str]]:
    """Return function, number and code of each check in a code cell.

    Raises:
        AppendixError: the cell is no Python, a check may not run, or its number is not a literal string.
    """
    python = TransformerManager().transform_cell(source)
    try:
        tree = ast.parse(python)
    except SyntaxError as error:
        raise AppendixError(f"{where}: not valid Python: {error.msg}, line {error.lineno}") from error
    certain = {id(node) for statement in tree.body for node in _surely_run(statement)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of_check(node)]
    found = []
    for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
        code = " ".join((ast.get_source_segment(python, call) or "").split())
        if id(call) not in certain or set(tags) & {"raises-exception", "skip-execution"}:
            raise AppendixError(
                f"{where}: {code} might never run or its failure might be hidden. Move it out of conditions, "
                "functions and cells that may fail: to the top level of its cell, or into a for or with block there."
            )
        first = call.args[0] if call.args else None
        if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
            raise AppendixError(
                f"{where}: {code} must begin with its number as a literal string, such as "
                f'check.{name_of_check(call)}("...", ...); a variable cannot be looked up in the registry.'
            )
        found.append((name_of_check(call), first.value, code))
    return found


def name_of_check(call: ast.Call) -> str:
    """Return "equation" or "erratum" if a call is ``check.equation`` or ``check.erratum``, else an empty string."""
    match call.func:
        case ast.Attribute(attr=name, value=ast.Name("check") | ast.Attribute(attr="check")):
            return name if name in {"equation", "erratum"} else ""
    return ""


_WHOLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.withitem, ast.expr, ast.keyword)


def _surely_run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement or expression and all parts of it that run whenever it does."""
    yield node
    for child in _first_parts(node):
        yield from _surely_run(child)


def _first_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Return the direct parts of a node that run whenever it does (a loop is taken to run at least once)."""
    match node:
        case ast.For(iter=iterable, body=body):
            return [iterable, *body]
        case ast.With(items=items, body=body):
            hidden = any(re.search(r"\b(raises|suppress)\b", ast.unparse(item)) for item in items)
            return [] if hidden else [*items, *body]
        case ast.Assert(test=test) | ast.IfExp(test=test):
            return [test]
        case ast.BoolOp(values=[first, *_]):
            return [first]
        case ast.Compare(left=left, comparators=[right, *_]):
            return [left, right]
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return []
    return ast.iter_child_nodes(node) if isinstance(node, _WHOLE) else []


# ---- The pages -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pages:
    """What the two pages are made from: the registry and, for each number, its checks."""

    registry: Registry
    equations: Mapping[str, list[Check]]
    errata: Mapping[str, list[Check]]
    mentions: Mapping[str, list[Place]]

    def open_equations(self) -> list[str]:
        """Return the numbers of the equations that need a check and have none."""
        return [each.number for each in self.registry.equations if each.needs_check and not self.equations[each.number]]

    def unused(self) -> list[str]:
        """Return the numbers of the definitions and laws of which no chapter shows where they are used."""
        given = [each.number for each in self.registry.equations if not each.needs_check]
        return [each for each in given if not self.equations[each] and label("eq", each) not in self.mentions]

    def open_errata(self) -> list[str]:
        """Return the ids of the errata that need a check and have none."""
        return [each.id for each in self.registry.errata if each.check and not self.errata[each.id]]

    def render(self) -> dict[str, str]:
        """Return the text of each page by its file name."""
        return {"equations.md": self._equations_page(), "errata.md": self._errata_page()}

    def _equations_page(self) -> str:
        own = [each for each in self.registry.equations if each.own]
        blocks = [f"% {text('generated')}", f"# {text('equations title')}", text("equations intro")]
        blocks += [text("equations count", **self._counts(each for each in self.registry.equations if not each.own))]
        blocks += [text("own count", **self._counts(own))]
        section = ""
        for each in self.registry.equations:
            if each.section != section:
                section = each.section
                blocks.append(f"## {text(f'section {section}')}")
            blocks += [f"({label('eq', each.number)})=\n**{each.number}** · {each.about}"]
            blocks += [f"$$\n{each.tex.strip()}\n$$", self._status(each)]
        return "\n\n".join(blocks) + "\n"

    def _counts(self, equations: Iterable[Equation]) -> dict[str, int]:
        needs = {each.number: each.needs_check for each in equations}
        total, needed, unproved = len(needs), sum(needs.values()), len(needs.keys() & set(self.open_equations()))
        return {"total": total, "asserted": needed - unproved, "given": total - needed, "open": unproved}

    def _status(self, equation: Equation) -> str:
        """Return the line below an equation: what it is, where it is derived, and its errata."""
        checks = self.equations[equation.number]
        errata = _links("erratum", equation.errata)
        key = equation.kind if checks or not equation.needs_check else f"{equation.kind} open"
        sentences = [text(key, places=_places(checks), errata=errata)]
        if not equation.needs_check:
            used: Sequence[Place] = checks or self.mentions.get(label("eq", equation.number), [])
            if used:
                sentences.append(text("given checked", places=_places(used)))
        if not equation.typed:
            sentences.append(text("not typed"))
        replaced_by = [each.number for each in self.registry.equations if equation.number in each.corrects]
        if replaced_by:
            sentences.append(text("replaced by", numbers=_links("eq", replaced_by)))
        if equation.own:
            key = "replaces" if equation.corrects else "own"
            sentences.insert(0, text(key, numbers=_links("eq", equation.corrects)))
        others = [each.id for each in self.registry.errata if equation.number in each.equations]
        others = [each for each in others if each not in equation.errata]
        if others:
            sentences.append(text("see also", errata=_links("erratum", others)))
        return " ".join(sentences)

    def _errata_page(self) -> str:
        total, unproved = len(self.registry.errata), len(self.open_errata())
        needed = sum(each.check for each in self.registry.errata)
        counts = text("errata count", total=total, asserted=needed - unproved, given=total - needed, open=unproved)
        blocks = [f"% {text('generated')}", f"# {text('errata title')}", text("errata intro"), counts]
        document = ""
        for each in self.registry.errata:
            if each.document != document:
                document = each.document
                blocks.append(f"## {text(f'document {document}')}")
            blocks += [self._heading(each), self._details(each)]
        return "\n\n".join(blocks) + "\n"

    def _heading(self, erratum: Erratum) -> str:
        grade = text(f"grade {erratum.grade}")
        return f"({label('erratum', erratum.id)})=\n**{erratum.id}** · {grade} · {self._linked(erratum.where)}"

    def _details(self, erratum: Erratum) -> str:
        checks = self.errata[erratum.id]
        status = "shown" if checks else "shown open" if erratum.check else "wording"
        items = [text(name, text=self._linked(getattr(erratum, name).strip())) for name in ("printed", "correction")]
        items += [text("reason", text=self._linked(erratum.reason)), text(status, places=_places(checks))]
        return "\n".join("- " + textwrap.indent(item, "  ").strip() for item in items)

    def _linked(self, sentence: str) -> str:
        """Return a sentence with each number of an equation outside formulas turned into a link."""
        numbers = sorted((each.number for each in self.registry.equations), key=len, reverse=True)
        pattern = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, numbers))})(?![\w-]|\.\w)")
        parts = re.split(r"(\$\$.*?\$\$|\$.*?\$)", sentence, flags=re.DOTALL)
        parts[::2] = [pattern.sub(lambda found: _links("eq", [found[1]]), part) for part in parts[::2]]
        return "".join(parts)


def label(kind: str, number: str) -> str:
    """Return the anchor of an equation (``kind`` "eq") or an erratum ("erratum").

    >>> label("eq", "A5.2.6-26")
    'eq-a5-2-6-26'
    """
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', number.lower())}"


def _links(kind: str, numbers: Iterable[str]) -> str:
    return ", ".join(f"[{number}](#{label(kind, number)})" for number in numbers)


def _places(places: Iterable[Place]) -> str:
    """Return where checks stand and their code, or where an equation is mentioned, as a part of a sentence."""
    return text("and").join(_place(each) for each in places)


def _place(place: Place) -> str:
    if isinstance(place, Check):
        return text("place", heading=place.heading, link=place.link, code=_code(place.code))
    return text("mention", heading=place.heading, link=place.link)


def _code(source: str) -> str:
    """Return code in code font, shortened to one line."""
    shown = source if len(source) <= CODE_WIDTH else source[: CODE_WIDTH - 1].rstrip() + "…"
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def make_pages(book: Path = BOOK) -> Pages:
    """Return the pages of a book.

    Raises:
        AppendixError: a notebook checks a number that is not in the registry, or hides a check.
    """
    registry = load_registry(book)
    equations: dict[str, list[Check]] = {each.number: [] for each in registry.equations}
    errata: dict[str, list[Check]] = {each.id: [] for each in registry.errata}
    for check in find_checks(book):
        known = equations if check.function == "equation" else errata
        if check.number not in known:
            raise AppendixError(f"{check.page}: {check.code} names {check.number!r}, which is not in the registry.")
        known[check.number].append(check)
    return Pages(registry, equations, errata, find_mentions(book))


def stale_pages(book: Path = BOOK) -> list[str]:
    """Return the names of the pages that are missing or differ from what would be written now."""
    pages = make_pages(book).render()
    return [name for name, page in pages.items() if not (book / name).exists() or _read(book / name) != page]


def write_pages(book: Path = BOOK) -> None:
    """Write both pages; a reader never sees half a page."""
    for name, page in make_pages(book).render().items():
        write_text(book / name, page)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def main(arguments: list[str] | None = None, book: Path = BOOK) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.appendices", description="Write the pages of the registry.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is stale")
    try:
        if not parser.parse_args(arguments).check:
            write_pages(book)
            return 0
        stale = stale_pages(book)
    except AppendixError as error:
        print(error, file=sys.stderr)
        return 1
    for name in stale:
        print(f"book/{name} is not up to date: run python -m tools.appendices", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
