"""The chapters as notebooks: in JupyterLab as `make lab` opens them, and alone, where there is no dynlib."""

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

import nbformat
import pytest
from browser import chromium
from nbformat.sign import NotebookNotary

from tools.files import ROOT, notebooks_in_toc
from tools.lab import FIRST, SETTINGS, trust

BOOK = ROOT / "book"
CHAPTERS = [path.stem for path in notebooks_in_toc()]
START = 60  # seconds until the server answers
LOAD = 60_000  # milliseconds until a chapter is shown
RUN = 300_000  # milliseconds until all its cells have run


def read(chapter):
    return nbformat.reads((BOOK / f"{chapter}.ipynb").read_text(encoding="utf-8"), as_version=4)


# ---- Trust -------------------------------------------------------------------------------------------


def is_trusted(path, data):
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    return NotebookNotary(data_dir=str(data)).check_signature(notebook)


def test_chapters_are_trusted_without_a_change_of_their_files(tmp_path):
    before = {path: path.read_bytes() for path in notebooks_in_toc()}
    other = tmp_path / "other.ipynb"
    shutil.copy(BOOK / "frames.ipynb", other)
    other.write_text(other.read_text(encoding="utf-8").replace("boom", "mast"), encoding="utf-8")
    trust(notebooks_in_toc(), tmp_path / "data")
    assert all(is_trusted(path, tmp_path / "data") for path in before)
    assert {path: path.read_bytes() for path in before} == before
    assert not is_trusted(other, tmp_path / "data"), "only the chapters"


def test_the_first_chapter_to_open_is_there():
    assert ROOT / FIRST in notebooks_in_toc()


# ---- A chapter alone ---------------------------------------------------------------------------------

WITHOUT = "import sys\nsys.modules['dynlib'] = None\n"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_without_dynlib_says_at_once_what_to_do(chapter, tmp_path):
    """The first cell that needs dynlib fails where it imports it, and the text before it names the cure."""
    cells = read(chapter).cells
    (tmp_path / "crane.toml").write_text("")
    first = next(place for place, cell in enumerate(cells) if "dynlib" in cell.source and cell.cell_type == "code")
    code = "\n".join(cell.source for cell in cells[: first + 1] if cell.cell_type == "code")
    environ = os.environ | {"PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", WITHOUT + code]
    done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, encoding="utf-8")
    assert re.search(r"ModuleNotFoundError: .*dynlib", done.stderr.splitlines()[-1])
    start = next(place for place, cell in enumerate(cells) if cell.cell_type == "code")
    for words in ("no module `dynlib`", "%pip install git+ADDRESS", "make lab", "[How to run it](running.md)"):
        assert words in cells[start - 1].source


# ---- In a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    if importlib.util.find_spec("jupyterlab_myst") is None:
        if os.environ.get("CI"):
            pytest.fail("JupyterLab is not installed")
        pytest.skip("JupyterLab is not installed, so the chapters are not opened in it: make env")
    with chromium() as started:
        yield started


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def jupyterlab(command, folder, **environ):
    """Start JupyterLab on a copy of the chapters; return its address."""
    shutil.copytree(BOOK, folder / "book", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    settings = folder / "settings"
    shutil.copytree(SETTINGS, settings)
    overrides = json.loads((settings / "overrides.json").read_text(encoding="utf-8"))
    overrides["@jupyterlab/notebook-extension:tracker"] = {"windowingMode": "none"}  # all cells at once
    (settings / "overrides.json").write_text(json.dumps(overrides), encoding="utf-8")
    port = free_port()
    command += ["--no-browser", f"--port={port}", "--IdentityProvider.token=", "--allow-root"]
    command += [f"--ServerApp.root_dir={folder}", f"--LabApp.app_settings_dir={settings}"]
    log = (folder / "log").open("w", encoding="utf-8")
    process = subprocess.Popen(command, cwd=ROOT, env=os.environ | environ, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address, process, folder / "log")
        yield address
    finally:
        process.terminate()
        process.wait()
        log.close()


def wait_for(address, process, log):
    """Wait until the server answers."""
    end = time.monotonic() + START
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api").close()
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab does not start:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """Return the address and the folder of chapters opened by `make lab`."""
    folder = tmp_path_factory.mktemp("lab")
    with jupyterlab([sys.executable, "-m", "tools.lab"], folder) as address:
        yield address, folder


@contextmanager
def opened(browser, address, chapter):
    """Open a chapter in JupyterLab; return the page when all its text is drawn."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(f"{address}/lab/tree/book/{chapter}.ipynb?reset")
        page.wait_for_selector(".jp-Notebook .jp-MarkdownCell", timeout=LOAD)
        page.wait_for_function(DRAWN, timeout=LOAD)
        yield page
    finally:
        context.close()


# Every text cell stands there as MyST, and the kernel is ready.
DRAWN = """() => {
  const cells = [...document.querySelectorAll('.jp-Notebook .jp-MarkdownCell')];
  const ready = document.querySelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  return ready && cells.length > 0 && cells.every(each => each.innerText.trim());
}"""
SEEN = """() => {
  const all = (kind) => [...document.querySelectorAll('.jp-Notebook ' + kind)];
  const words = all('.jp-MarkdownCell').map(each => each.innerText).join('\\n');
  return {
    words,
    cells: all('.jp-Cell').length,
    closed: all('details:not([open])').length,
    open: all('details[open]').length,
    betrayed: all('.jp-CodeCell :is(.jp-OutputPlaceholder, .jp-InputPlaceholder)')
        .filter(each => each.checkVisibility()).map(each => each.innerText.trim()).filter(each => each),
    code: all('.jp-CodeCell .jp-InputPlaceholder').length,
    guesses: all('.jp-CodeCell .jp-OutputPlaceholder').length,
    pictures: all('.jp-RenderedSVG img, .jp-RenderedImage img').filter(each => each.naturalWidth > 0).length,
    messages: [...document.querySelectorAll('.jp-Dialog, .Toastify__toast')].map(each => each.innerText),
  };
}"""
RAW = re.compile(
    r":::|^:\w+:|\{(?:cite|dropdown|admonition|exercise|solution|eq|ref|doc|math|prf)\b[^}]*\}", re.MULTILINE
)


def hidden(notebook):
    """Return how many answers a chapter closes."""
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return len(re.findall(r"^:::+\{(?:dropdown|solution)\}", text, flags=re.MULTILINE))


def guesses(notebook):
    """Return the cells whose output readers open after a guess, or when they have tried an exercise."""
    return [cell for cell in notebook.cells if {"hide-output", "hide-cell"} & set(cell.metadata.get("tags", []))]


def pictures(cells):
    """Return how many pictures are stored in some cells."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return sum(any(kind.startswith("image/") for kind in output.get("data", {})) for output in outputs)


def look(page):
    seen = page.evaluate(SEEN)
    raw = RAW.findall(seen["words"])
    assert raw == [], "directives shown as raw text"
    assert seen["open"] == 0, "answers that stand open"
    assert seen["messages"] == []
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_in_jupyterlab(browser, lab, chapter):
    address, folder = lab
    notebook = read(chapter)
    with opened(browser, address, chapter) as page:
        seen = look(page)
        assert seen["cells"] == len(notebook.cells)
        assert seen["closed"] == hidden(notebook)
        assert seen["guesses"] == len(guesses(notebook))
        assert seen["code"] == sum("hide-cell" in cell.metadata.get("tags", []) for cell in notebook.cells)
        assert seen["betrayed"] == [], "the first line of an output that is closed"
        stored = pictures(notebook.cells)
        assert seen["pictures"] == stored - pictures(guesses(notebook)), "pictures are missing before any run"
        assert (folder / "book" / f"{chapter}.ipynb").read_bytes() == (BOOK / f"{chapter}.ipynb").read_bytes()
        run_all(page)
        assert failed(page) == meant_to_fail(notebook)
        assert look(page)["pictures"] == stored
        choose(page, "Kernel", "Shut Down Kernel")


@pytest.mark.slow
def test_a_chapter_in_jupyterlab_without_make_lab(browser, tmp_path):
    """Nothing is trusted: pictures are missing, the chapter says what opens it with them, and answers are closed."""
    environ = {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    plain = jupyterlab([sys.executable, "-m", "jupyterlab"], tmp_path, **environ)
    with plain as address, opened(browser, address, "frames") as page:
        seen = look(page)
    assert seen["pictures"] == 0
    assert seen["closed"] == hidden(read("frames"))
    assert seen["guesses"] == len(guesses(read("frames")))
    assert "make lab" in seen["words"]


def choose(page, menu, entry):
    page.get_by_role("menuitem", name=menu, exact=True).click()
    page.get_by_text(entry, exact=True).click()


def run_all(page):
    """Clear all outputs, run all cells and wait for the last one."""
    choose(page, "Edit", "Clear Outputs of All Cells")
    choose(page, "Run", "Run All Cells")
    page.wait_for_function(FINISHED, timeout=RUN)


# Each cell has its number, or one has failed and those after it are not run.
FINISHED = """() => {
  const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputArea-prompt')].map(each => each.textContent);
  const idle = document.querySelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
  const error = [...document.querySelectorAll('.jp-CodeCell')].some(each => each.innerText.includes('Traceback (most'));
  return idle && !prompts.some(each => each.includes('*')) && (error || prompts.every(each => /\\d/.test(each)));
}"""


def failed(page):
    """Return the numbers of the cells whose output is an error."""
    return page.evaluate(FAILED)


FAILED = """() => [...document.querySelectorAll('.jp-CodeCell')]
  .filter(each => each.innerText.includes('Traceback (most'))
  .map(each => each.querySelector('.jp-InputArea-prompt').textContent)"""


def meant_to_fail(notebook):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [f"[{cell.execution_count}]:" for cell in cells if "raises-exception" in cell.metadata.get("tags", [])]
