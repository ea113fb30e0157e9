"""Run all chapters again and store their outputs; then write the generated appendices again.

A notebook whose outputs are the same stays as it is, to the byte. One that fails stays as it is too.
Run it as `make notebooks`; with names (`python -m tools notebooks newton_euler`) it runs only those.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from tools.files import ROOT, notebooks_in_toc, write_text

KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
# What the page closes until a reader opens it, by its tag, and how JupyterLab knows it.
CLOSED = {
    "hide-output": {"outputs_hidden": True},
    "hide-input": {"source_hidden": True},
    "hide-cell": {"source_hidden": True, "outputs_hidden": True},
}
# What editors and kernels write down about one run, and what changes from machine to machine.
VOLATILE = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "vscode", "jupyter")
TIMEOUT = 600  # seconds for one cell


def run(notebook: Any, folder: Path) -> None:
    """Execute a notebook in place, as a reader would: from the top, in its own folder."""
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()


def closed_by(tags: list[str]) -> dict[str, bool]:
    """Return what JupyterLab closes of a cell with some tags.

    Examples:
        >>> closed_by(["hide-output", "raises-exception"])
        {'outputs_hidden': True}
    """
    return {key: value for tag in tags for key, value in CLOSED.get(tag, {}).items()}


def tidy(notebook: Any) -> None:
    """Remove what differs from one run or machine to the next; cell ids and tags stay, and what they hide is closed."""
    notebook.metadata["kernelspec"] = dict(KERNELSPEC)
    language = notebook.metadata.get("language_info", {})
    language.pop("version", None)
    for key in set(notebook.metadata) - {"kernelspec", "language_info"}:
        del notebook.metadata[key]
    for cell in notebook.cells:
        for key in VOLATILE:
            cell.metadata.pop(key, None)
        if closed := closed_by(cell.metadata.get("tags", [])):
            cell.metadata["jupyter"] = closed


def as_text(notebook: Any) -> str:
    """Return a notebook as the text of its file."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4, ensure_ascii=False)
    return text if text.endswith("\n") else text + "\n"


def refresh(path: Path) -> str:
    """Run one notebook and store its outputs.

    Returns:
        What happened, for the list: `unchanged` or `stored`.

    Raises:
        CellExecutionError: If a cell fails; the file stays as it is.
        CellTimeoutError: If a cell runs longer than ten minutes.
    """
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    run(notebook, path.parent)
    tidy(notebook)
    return "stored" if write_text(path, as_text(notebook)) else "unchanged"


def main() -> int:
    """Run the notebooks; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools notebooks", description="Run the chapters again.")
    parser.add_argument("names", nargs="*", help="notebooks by name, such as newton_euler; all if none is given")
    names = [Path(name).stem for name in parser.parse_args().names]

    for variable in ("JUPYTER_PATH", "MPLBACKEND", "MATPLOTLIBRC"):  # the course's own kernel and its defaults
        os.environ.pop(variable, None)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"

    paths = notebooks_in_toc()
    unknown = set(names) - {path.stem for path in paths}
    if unknown:
        print(f"No notebook of _toc.yml is called {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    failed = False
    for path in paths:
        if names and path.stem not in names:
            continue
        name = path.relative_to(ROOT).as_posix()
        start = time.monotonic()
        try:
            result = refresh(path)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            print(error, file=sys.stderr)
            result, failed = "FAILED, left as it is", True
        print(f"{name}: {result} ({time.monotonic() - start:.1f} s)", flush=True)
    if failed:
        return 1
    return subprocess.call([sys.executable, "-m", "tools.appendices"], cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
