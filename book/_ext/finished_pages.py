"""Sphinx extension: what the theme leaves to be done on each finished page.

- A description for search engines and link previews: the beginning of the first paragraph.
- MathJax only on pages that hold a formula.
- The few icons that the pages use, as pictures in one small style sheet, instead of a script of 1.5 MB with all.
- Names and roles that readers with a screen reader meet.
- Printed sentences break at the edge of a phone; printed tables keep their columns.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from dynlib.algebra import notation

logger = logging.getLogger(__name__)

LONGEST = 160  # letters of a description: search engines show no more
ICONS = "icons.css"
ALL_ICONS = Path("_static", "scripts", "fontawesome.js")
# Of the icons with one name, which comes in a style; each style has a long name and a short one.
STYLES = {"fa-brands": 0, "fa-regular": 0, "fa-solid": -1, "fab": 0, "far": 0, "fas": -1}
SIZES = {"fa-lg", "fa-sm", "fa-xs", "fa-xl", "fa-fw", "fa-2x", *STYLES}

# What is said of a part of a page, and what is to be said instead. A page is left alone where it was done before.
CORRECTIONS = [
    (r'<script defer src="[^"]*scripts/fontawesome\.js[^"]*"></script>\s*', ""),
    # a button is called what it shows
    (r'(<button class="btn search-button-field[^>]*?) aria-label="Search"', r"\1"),
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # the title of the course belongs to the navigation
    (
        r'<div class="sidebar-primary-item">(?=[^<]*<a class="navbar-brand)',
        '<div class="sidebar-primary-item" role="navigation" aria-label="Title">',
    ),
    # a sign that unfolds a list has a name
    (r'<summary>(?=<span class="toctree-toggle")', '<summary aria-label="Pages of this part">'),
    # an entry of the bibliography is an entry of a list
    (r' role="doc-biblioentry"', ' role="listitem"'),
    (r' role="doc-backlink"', ""),
]


def description_of(document: nodes.document) -> str:
    """Return the beginning of the first paragraph of a page, in whole sentences as far as they fit.

    Args:
        document: The parsed page.

    Returns:
        At most 160 letters; empty for a page without a paragraph.
    """
    for paragraph in document.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section | nodes.document):
            text = re.sub(r"\s+", " ", "".join(plain(paragraph))).strip()
            sentences = re.split(r"(?<=[.?!]) ", text)
            shown = ""
            while sentences and len(f"{shown} {sentences[0]}".strip()) <= LONGEST:
                shown = f"{shown} {sentences.pop(0)}".strip()
            return shown or text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
    return ""


def plain(node: nodes.Node) -> Iterator[str]:
    """Yield the text of a paragraph, with formulas as plain text."""
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield child.astext()
        elif isinstance(child, nodes.math):
            yield notation.text(child.astext())
        else:
            yield from plain(child)


def head_of(app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None) -> None:
    """Write the description into the head of a page, and leave out MathJax where there is nothing for it."""
    context["css_files"] = [*context.get("css_files", []), f"_static/{ICONS}"]
    holds_formula = document is not None and any(
        document.findall(lambda node: isinstance(node, nodes.math | nodes.math_block))
    )
    if not holds_formula:
        context["script_files"] = [each for each in context["script_files"] if "mathjax" not in str(each).lower()]
    if document is not None and (text := description_of(document)):
        escaped = text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
        context["metatags"] = context.get("metatags", "") + f'<meta name="description" content="{escaped}" />\n'


def corrected(html: str) -> str:
    """Return a finished page with the corrections made."""
    html = re.sub(r"<dl>\s*(?=<dd><em class=\"sig-param)(.*?)</dl>", lines_of_signature, html, flags=re.DOTALL)
    html = PRINTED.sub(wrapped, html)
    for wrong, right in CORRECTIONS:
        html = re.sub(wrong, right, html)
    return html


PRINTED = re.compile(r'<div class="output (?=[^>]*>\s*<div class="highlight">\s*<pre>(.*?)</pre>)', re.DOTALL)
NARROW = 38  # letters that fit beside the edges of a phone


def wrapped(found: re.Match[str]) -> str:
    """Return the beginning of a printed output, marked if its long lines are sentences: they have no columns."""
    text = unescape(re.sub(r"<[^>]*>", "", found[1]))
    columns = any(len(line) > NARROW and re.search(r"\S {2,}\S", line) for line in text.splitlines())
    return found[0] if columns else found[0] + "sentences "


def lines_of_signature(found: re.Match[str]) -> str:
    """Return a long signature as plain lines; Sphinx writes them as a list of definitions that defines nothing."""
    return found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")


def icons_on(pages: Iterable[str]) -> set[tuple[str, str]]:
    """Return style and name of each icon on some pages, such as `("fa-solid", "sun")`."""
    found = set()
    for html in pages:
        for names in re.findall(r'<(?:i|span)[^>]*class="([^"]*\bfa-[^"]*)"', html):
            classes = names.split()
            style = next((each for each in classes if each in STYLES), "fa-solid")
            found |= {(style, each[3:]) for each in classes if each.startswith("fa-") and each not in SIZES}
    return found


def icon(script: str, style: str, name: str) -> str | None:
    """Return an icon of the theme's script as a picture (SVG); None if it has none of that name."""
    called = rf'"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\]'
    before = rf'\[(\d+),(\d+),\[[^\]]*"{re.escape(name)}"[^\]]*\]'
    rest = r',"[^"]*","([^"]+)"\]'
    found = re.findall(rf"[,{{]{called}{rest}", script) or re.findall(before + rest, script)
    if not found:
        return None
    width, height, path = found[STYLES[style]]
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><path d="{path}"/></svg>'


def style_sheet(script: str, icons: Iterable[tuple[str, str]]) -> str:
    """Return the style sheet that draws the icons in the colour of the text around them."""
    rules = [
        "/* Icons: Font Awesome Free (CC BY 4.0), as they come with the theme; only those that the pages use. */",
        "[class*='fa-']:is(i, span) { display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;"
        " background: currentColor; -webkit-mask: var(--icon) center / contain no-repeat;"
        " mask: var(--icon) center / contain no-repeat; }",
        ".fa-lg:is(i, span) { font-size: 1.25em; vertical-align: -0.075em; }",
    ]
    for style, name in sorted(icons):
        picture = icon(script, style, name)
        if picture is None:
            logger.warning("the theme has no icon fa-%s", name)
        else:
            rules.append(f".{style}.fa-{name} {{ --icon: url('data:image/svg+xml,{quote(picture)}'); }}")
    return "\n".join(rules) + "\n"


def finish(app: Sphinx, error: Exception | None) -> None:
    """Correct the finished pages, and write the style sheet of the icons."""
    if error is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    pages = [page for page in folder.rglob("*.html") if "_static" not in page.relative_to(folder).parts]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    for page, html in texts.items():
        if (better := corrected(html)) != html:
            page.write_text(better, encoding="utf-8", newline="\n")
    script = folder / ALL_ICONS
    if script.exists():
        sheet = style_sheet(script.read_text(encoding="utf-8"), icons_on(texts.values()))
        (folder / "_static" / ICONS).write_text(sheet, encoding="utf-8", newline="\n")
        for left in script.parent.glob(f"{script.name}*"):
            left.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the two steps: while a page is written, and when all are."""
    app.connect("html-page-context", head_of, priority=900)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
