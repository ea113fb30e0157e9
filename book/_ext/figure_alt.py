"""Sphinx extension: figures in notebook outputs get their alternative text, and no white box on dark pages.

A figure says in words what it shows where it is made: the SVG file carries the text as its title
(`<dc:title>` in its metadata, which Matplotlib writes for `savefig(metadata={"Title": ...})`).
The notebook's page would lose that text, because an image in HTML shows only its own `alt`.
"""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

TITLES = ("{http://purl.org/dc/elements/1.1/}title", "{http://www.w3.org/2000/svg}title")
TRANSPARENT = "dark-light"  # the theme's name for pictures that suit light and dark pages alike


def title_of(svg: str) -> str:
    """Return the title in an SVG's metadata as one line; empty if there is none.

    Examples:
        >>> title_of('<svg xmlns="http://www.w3.org/2000/svg"><title>Two  links</title></svg>')
        'Two links'
    """
    root = ElementTree.fromstring(svg)
    for name in TITLES:
        for element in root.iter(name):
            text = re.sub(r"\s+", " ", "".join(element.itertext())).strip()
            if text:
                return text
    return ""


class FigureAlt(SphinxTransform):
    """Give each SVG image of a notebook output the alternative text that the SVG carries."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        """Visit the images of one page."""
        for image in self.document.findall(nodes.image):
            uri = image["uri"]
            if not uri.endswith(".svg") or "://" in uri:
                continue
            path = self._path(uri)
            if path is None:
                continue
            if not image.get("alt"):
                text = title_of(path.read_text(encoding="utf-8"))
                if text:
                    image["alt"] = text
                else:
                    logger.warning("a figure has no alternative text: give it a title", location=image)
            if TRANSPARENT not in image["classes"]:
                image["classes"].append(TRANSPARENT)

    def _path(self, uri: str) -> Path | None:
        source = Path(self.app.srcdir)
        candidates = [Path(self.env.doc2path(self.env.docname)).parent / uri, source / uri.lstrip("/")]
        return next((path for path in candidates if path.is_file()), None)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.add_transform(FigureAlt)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
