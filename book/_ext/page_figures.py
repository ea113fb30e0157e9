"""Sphinx extension: figures in notebook outputs become part of the page.

- Their alternative text stands in the page: the SVG carries it as its title.
- Their colours follow the theme: each colour of `dynlib.figures.PALETTE` has a value for white and for dark pages.
- Films have a button (course.js).
"""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from dynlib.figures import PALETTE

logger = logging.getLogger(__name__)

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
NAMES = {light: name for name, (light, _) in PALETTE.items()}
COLOUR = re.compile(r"(?<![-\w])(fill|stroke)\s*:\s*([^;\s]+)")
REFERENCE = re.compile(r"(?:(?<=url\()|^)#(?=[\w-]+)")
STYLE_SHEET = "figures.css"


def title_of(svg: str) -> str:
    """Return the title of an SVG as one line; empty if there is none.

    Examples:
        >>> title_of('<svg xmlns="http://www.w3.org/2000/svg"><title>Two  links</title></svg>')
        'Two links'
    """
    return " ".join((ElementTree.fromstring(svg).findtext(f"{SVG}title") or "").split())


def colours_of(svg: ElementTree.Element) -> set[str]:
    """Return all colours of an SVG, as they are written.

    Examples:
        >>> colours_of(ElementTree.fromstring('<svg><path style="fill: none; stroke: red"/></svg>'))
        {'red'}
    """
    found = set()
    for element in svg.iter():
        found |= {colour for _, colour in COLOUR.findall(element.get("style", ""))}
        found |= {element.get(key, "none") for key in ("fill", "stroke")}
    return {colour for colour in found if colour != "none" and not colour.startswith("url(")}


def in_page(svg: str, apart: str) -> str:
    """Return an SVG as a part of a page, in colours that follow the theme.

    Args:
        svg: The file's text, in colours of the palette.
        apart: What all its names begin with, so that no two pictures of a page share one.
    """
    title = title_of(svg)
    root = ElementTree.fromstring(svg)
    for child in root.findall(f"{SVG}title"):
        root.remove(child)
    root.attrib.pop("version", None)
    root.set("role", "img")
    root.set("aria-label", title)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        if name := element.get("id"):
            element.set("id", apart + name)
        if LINK in element.attrib:
            element.set("href", element.attrib.pop(LINK))
        for key, value in list(element.attrib.items()):
            element.set(key, recoloured(value) if key == "style" else REFERENCE.sub(f"#{apart}", value))
    kind = "drawing film" if root.find(".//*[@class='strip']") is not None else "drawing"
    return f'<figure class="{kind}">{ElementTree.tostring(root, encoding="unicode")}</figure>'


def recoloured(style: str) -> str:
    """Return a style in which each colour of the palette has become its name.

    Examples:
        >>> recoloured("fill: none; stroke: #ffffff")
        'fill: none; stroke: var(--figure-paper)'
    """
    return COLOUR.sub(
        lambda found: f"{found[1]}: var(--figure-{NAMES[found[2]]})" if found[2] in NAMES else found[0], style
    )


def style_sheet() -> str:
    """Return the values of the palette on white pages and on paper, and on dark pages."""
    light, dark = (" ".join(f"--figure-{name}: {pair[ground]};" for name, pair in PALETTE.items()) for ground in (0, 1))
    return f":root {{ {light} }}\n@media screen {{ html[data-theme='dark'] {{ {dark} }} }}\n"


class Figures(SphinxTransform):
    """Put each figure of a notebook output into its page."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """Visit the images of one page."""
        number = 0
        for image in list(self.document.findall(nodes.image)):
            path = self._path(image["uri"])
            if path is None:
                continue
            number += 1
            svg = path.read_text(encoding="utf-8")
            if not title_of(svg):
                logger.warning("a figure has no alternative text: use figures.show(..., alt=...)", location=image)
            if others := sorted(colours_of(ElementTree.fromstring(svg)) - set(NAMES)):
                logger.warning(
                    "a figure has colours that have no value for dark pages, %s: use figures.INK, figures.X_AXIS, ...",
                    ", ".join(others),
                    location=image,
                )
            image.replace_self(nodes.raw("", in_page(svg, f"figure{number}-"), format="html"))

    def _path(self, uri: str) -> Path | None:
        """Return the file of an SVG that a notebook made; None for other pictures."""
        if not uri.endswith(".svg") or "://" in uri or "jupyter_execute" not in uri:
            return None
        source = Path(self.app.srcdir)
        candidates = [Path(self.env.doc2path(self.env.docname)).parent / uri, source / uri.lstrip("/")]
        return next((path for path in candidates if path.is_file()), None)


def write_style_sheet(app: Sphinx, error: Exception | None) -> None:
    """Write the style sheet beside the others."""
    if error is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / STYLE_SHEET).write_text(style_sheet(), encoding="utf-8", newline="\n")


def link_style_sheet(app: Sphinx, page: str, template: str, context: dict[str, Any], document: Any) -> None:
    """Name the style sheet in the head of each page."""
    context["css_files"] = [*context.get("css_files", []), f"_static/{STYLE_SHEET}"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.add_transform(Figures)
    app.connect("html-page-context", link_style_sheet, priority=900)
    app.connect("build-finished", write_style_sheet)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
