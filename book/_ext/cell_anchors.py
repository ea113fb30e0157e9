"""Sphinx extension: every code cell of a notebook can be linked to.

A cell with the id `newton-euler-39` gets the anchor `cell-newton-euler-39`, and `[text](#cell-newton-euler-39)` leads
there from any page. The pages of equations and errata link to their checks in this way.
"""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def anchor(cell_id: str) -> str:
    """Return the anchor of a cell.

    Examples:
        >>> anchor("newton-euler-39")
        'cell-newton-euler-39'
    """
    return f"cell-{cell_id}"


def name_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Give each code cell of a page its anchor, and let other pages find it."""
    page = app.env.docname
    path = Path(app.env.doc2path(page))
    if path.suffix != ".ipynb":
        return
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for node in doctree.findall(nodes.container):
        if node.get("nb_element") == "cell_code":
            name = anchor(cells[node["cell_index"]]["id"])
            node["ids"].append(name)
            app.env.domains["std"].anonlabels[name] = (page, name)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("doctree-read", name_cells)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
