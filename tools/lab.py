"""Open the chapters in JupyterLab, with their stored pictures and with answers closed. Run it as `make lab`.

JupyterLab shows the stored pictures of a notebook only if it is trusted. The chapters of the course are: they are
signed, which changes no file. Signatures and settings stay in the environment, beside the packages; nothing else on
the disk becomes trusted.

Options go to JupyterLab, as in `python -m tools lab --no-browser --port 9000`; a name such as `book/motion.ipynb` opens
that chapter.
"""

import os
import shutil
import sys
from pathlib import Path

import nbformat
from nbformat.sign import NotebookNotary

from tools.files import ROOT, notebooks_in_toc

FIRST = "book/frames.ipynb"
SETTINGS = ROOT / "tools" / "lab_settings"


def trust(paths: list[Path], data: Path) -> None:
    """Sign notebooks, so that JupyterLab shows their stored pictures; the files stay as they are.

    Args:
        paths: The notebooks.
        data: Jupyter's folder of data, which holds the signatures.
    """
    data.mkdir(parents=True, exist_ok=True)
    notary = NotebookNotary(data_dir=str(data))
    for path in paths:
        notary.sign(nbformat.reads(path.read_text(encoding="utf-8"), as_version=4))


def arguments(given: list[str]) -> list[str]:
    """Complete the reader's options for JupyterLab; what the reader says counts.

    Examples:
        >>> arguments(["--no-browser", "book/motion.ipynb"])[-2:]
        ['--LabApp.default_url=/lab/tree/book/motion.ipynb', '--no-browser']
    """
    chapters = [each for each in given if each.endswith(".ipynb") and not each.startswith("-")]
    usual = {
        "--ServerApp.root_dir": str(ROOT),
        "--LabApp.app_settings_dir": str(SETTINGS),
        "--LabApp.custom_css": "True",
        "--ServerApp.answer_yes": "True",  # Ctrl+C ends it without a question
        "--LabApp.default_url": f"/lab/tree/{(chapters or [FIRST])[0]}",
    }
    named = {each.partition("=")[0] for each in given}
    ours = [f"{name}={value}" for name, value in usual.items() if name not in named]
    return [*ours, *(each for each in given if each not in chapters)]


def main() -> int:
    """Trust the chapters, then run JupyterLab until it is ended; return the exit code."""
    environment = Path(sys.prefix)
    data = environment / "share" / "jupyter"
    os.environ["JUPYTER_DATA_DIR"] = str(data)
    config = environment / "etc" / "jupyter"
    os.environ["JUPYTER_CONFIG_DIR"] = str(config)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # the course's own kernel
    trust(notebooks_in_toc(), data)
    (config / "custom").mkdir(parents=True, exist_ok=True)
    shutil.copy(SETTINGS / "custom.css", config / "custom")

    from jupyterlab.labapp import main as jupyterlab  # reads the folders above when it is imported

    print("Ctrl+C in this window ends JupyterLab.", flush=True)
    return jupyterlab(arguments(sys.argv[1:])) or 0


if __name__ == "__main__":
    sys.exit(main())
