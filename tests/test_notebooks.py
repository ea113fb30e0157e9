"""The notebooks of the book: complete, in order, readable, and really compared by nbval."""

import base64
import io
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image

from tools.files import ROOT, notebooks_in_toc, pages_in_toc
from tools.notebooks import refresh

BOOK = ROOT / "book"
NBVAL = [sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env"]
LONGEST, USUAL = 15, 8  # lines of a code cell: at most, and in nine of ten cells


def read(path):
    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


notebooks = pytest.mark.parametrize("path", notebooks_in_toc(), ids=lambda path: path.stem)


def test_every_page_of_the_contents_has_one_file():
    for page in pages_in_toc():
        files = [suffix for suffix in (".ipynb", ".md") if (ROOT / f"{page}{suffix}").exists()]
        assert len(files) == 1, f"_toc.yml lists {page}, of which there are these files: {files}"


def test_every_page_file_is_in_the_contents():
    files = [*BOOK.rglob("*.ipynb"), *BOOK.glob("*.md")]
    found = {
        file.relative_to(ROOT).with_suffix("").as_posix() for file in files if ".ipynb_checkpoints" not in file.parts
    }
    assert found == set(pages_in_toc())


@notebooks
def test_notebook_was_run_from_top_to_bottom(path):
    cells = [cell for cell in code_cells(read(path)) if cell.source.strip()]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "run: make notebooks"


@notebooks
def test_notebook_has_output_and_no_unexpected_error(path):
    cells = code_cells(read(path))
    assert any(cell.outputs for cell in cells)
    for cell in cells:
        failed = any(output.output_type == "error" for output in cell.outputs)
        assert failed == ("raises-exception" in tags(cell)), cell.source


@notebooks
def test_notebook_has_the_usual_kernel_and_stable_metadata(path):
    notebook = read(path)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "version" not in notebook.metadata.language_info, "run: make notebooks"
    ids = [cell.get("id") for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    assert all(ids), "a cell has no id"
    assert len(set(ids)) == len(ids), "two cells have the same id"


@notebooks
def test_code_cells_are_short_and_text_stands_between_them(path):
    notebook = read(path)
    lengths = {cell.id: len(cell.source.splitlines()) for cell in code_cells(notebook)}
    too_long = [name for name, length in lengths.items() if length > LONGEST]
    assert not too_long, f"cells of more than {LONGEST} lines; move code into dynlib: {too_long}"
    longer = [name for name, length in lengths.items() if length > USUAL]
    assert len(longer) <= 0.1 * len(lengths), f"more than a tenth of the cells has over {USUAL} lines: {longer}"
    kinds = "".join("c" if cell.cell_type == "code" else "t" for cell in notebook.cells)
    assert "ccc" not in kinds, "three code cells in a row without text between them"


def test_nbval_collects_every_cell():
    command = [*NBVAL, "--collect-only", "-q", "-p", "no:cacheprovider", "book"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    collected = re.findall(r"^book/(.+\.ipynb)::.*Cell \d+$", done.stdout, flags=re.MULTILINE)
    expected = [path.stem for path in notebooks_in_toc() for _ in code_cells(read(path))]
    assert sorted(Path(name).stem for name in collected) == sorted(expected)
    assert expected


# ---- Does nbval notice? Each of these is a copy of a notebook with one thing wrong ----------------


def png(colour):
    """Return a small picture whose middle pixel has the given colour, as a stored output holds it."""
    image = Image.new("RGB", (5, 5), "white")
    image.putpixel((2, 2), colour)
    stream = io.BytesIO()
    image.save(stream, format="PNG")
    return base64.b64encode(stream.getvalue()).decode("ascii")


def small_notebook():
    """Return a correct notebook: a printed number, a picture, an error that is meant."""
    picture = png((1, 2, 3))
    show = f"import base64\nfrom IPython.display import Image\nImage(data=base64.b64decode('{picture}'))"
    data = {"image/png": picture, "text/plain": "<IPython.core.display.Image object>"}
    error = new_output("error", ename="ValueError", evalue="too far", traceback=["ValueError: too far"])
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# A notebook", id="title"),
            new_code_cell("print(2 / 7)", id="number", execution_count=1),
            new_code_cell(show, id="picture", execution_count=2),
            new_code_cell('raise ValueError("too far")', id="error", execution_count=3),
        ]
    )
    notebook.cells[1].outputs = [new_output("stream", name="stdout", text="0.2857142857142857\n")]
    notebook.cells[2].outputs = [new_output("execute_result", data=data, execution_count=2)]
    notebook.cells[3].outputs = [error]
    notebook.cells[3].metadata["tags"] = ["raises-exception"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def wrong_digit(notebook):
    notebook.cells[1].outputs[0].text = "0.2857142857142858\n"


def wrong_pixel(notebook):
    notebook.cells[2].outputs[0].data["image/png"] = png((1, 2, 4))


def missing_picture(notebook):
    del notebook.cells[2].outputs[0].data["image/png"]


def cleared_output(notebook):
    notebook.cells[1].outputs = []


def never_run(notebook):
    notebook.cells[1].outputs = []
    notebook.cells[1].execution_count = None


def ignore_comment(notebook):
    notebook.cells[1].source = "# NBVAL_IGNORE_OUTPUT\n" + notebook.cells[1].source


def skip_comment(notebook):
    notebook.cells[1].source = "# NBVAL_SKIP\n" + notebook.cells[1].source


def ignore_tag(notebook):
    notebook.cells[1].metadata["tags"] = ["nbval-ignore-output"]


def skip_tag(notebook):
    notebook.cells[1].metadata["tags"] = ["nbval-skip"]


def no_error_stored(notebook):
    notebook.cells[1].metadata["tags"] = ["raises-exception"]


def wrong_error(notebook):
    notebook.cells[3].outputs[0].evalue = "too near"


MISTAKES = [
    wrong_digit,
    wrong_pixel,
    missing_picture,
    cleared_output,
    never_run,
    ignore_comment,
    skip_comment,
    ignore_tag,
    skip_tag,
    no_error_stored,
    wrong_error,
]


def run_nbval(folder, *options):
    """Run nbval on a folder as `make test` does; return the exit code and the failures in each notebook."""
    shutil.copy(BOOK / "conftest.py", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)  # the same settings of pytest
    report = folder / "report.xml"
    command = [*NBVAL, "-n", "2", "--dist", "loadfile", f"--junit-xml={report}", *options, "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    failures = {}
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            name = case.get("classname").split(".")[-2 if case.get("classname").endswith("ipynb") else -1]
            bad = case.find("failure") is not None or case.find("error") is not None
            failures[name] = failures.get(name, 0) + bad
    return done, failures


def store(notebook, path):
    path.write_text(nbformat.writes(notebook), encoding="utf-8")


def test_nbval_passes_a_correct_notebook_and_fails_each_mistake(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    store(small_notebook(), good / "correct.ipynb")
    done, failures = run_nbval(good)
    assert done.returncode == 0, done.stdout
    assert failures == {"correct": 0}

    for mistake in MISTAKES:
        notebook = small_notebook()
        mistake(notebook)
        store(notebook, bad / f"{mistake.__name__}.ipynb")
    done, failures = run_nbval(bad)
    assert done.returncode == 1, done.stdout
    assert sorted(failures) == sorted(mistake.__name__ for mistake in MISTAKES), done.stdout
    passed = [name for name, count in failures.items() if not count]
    assert not passed, f"nbval passes notebooks with these mistakes: {passed}"


def outputs_holding(notebook, *kinds):
    """Yield (data, key) of each stored output of these kinds."""
    for cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "stream" and "stream" in kinds:
                yield output, "text"
            for kind in kinds:
                if kind in output.get("data", {}):
                    yield output.data, kind


def change_digit(text):
    """Return a text with its last digit changed."""
    at = [found.start() for found in re.finditer(r"\d", text)][-1]
    return text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]


def chapter_with_a_figure():
    """Return the smallest chapter that has a figure and a number in its outputs."""
    for path in sorted(notebooks_in_toc(), key=lambda path: path.stat().st_size):
        notebook = read(path)
        if any(outputs_holding(notebook, "image/svg+xml")) and mutable_number(notebook):
            return path
    return None


def mutable_number(notebook):
    """Return (data, key) of a stored output with a digit in it; None if there is none."""
    for data, key in outputs_holding(notebook, "stream", "text/plain", "text/latex", "text/markdown"):
        if re.search(r"\d", data[key]):
            return data, key
    return None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a figure may differ in its last digits")
def test_nbval_notices_a_digit_and_a_figure_changed_in_a_chapter(tmp_path):
    path = chapter_with_a_figure()
    assert path, "no chapter has a figure and a number in its stored outputs"
    digit = read(path)
    data, key = mutable_number(digit)
    data[key] = change_digit(data[key])
    store(digit, tmp_path / "digit.ipynb")

    figure = read(path)
    data, key = next(outputs_holding(figure, "image/svg+xml"))
    strokes = list(re.finditer(r'\bd="M [^"]*?(\d)', data[key]))
    at = strokes[len(strokes) // 2].start(1)
    data[key] = data[key][:at] + str((int(data[key][at]) + 1) % 10) + data[key][at + 1 :]
    store(figure, tmp_path / "figure.ipynb")

    done, failures = run_nbval(tmp_path)
    assert done.returncode == 1, done.stdout
    assert failures == {"digit": 1, "figure": 1}, done.stdout


@pytest.mark.parametrize("option", ["--nbval-sanitize-with=rules.cfg", "--nbval-lax"])
def test_options_that_weaken_nbval_are_refused(tmp_path, option):
    store(small_notebook(), tmp_path / "correct.ipynb")
    (tmp_path / "rules.cfg").write_text("[all]\nregex: .*\nreplace: x\n", encoding="utf-8")
    done, _ = run_nbval(tmp_path, option)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "is refused" in done.stderr


# ---- make notebooks --------------------------------------------------------------------------------


def test_outputs_are_stored_once_and_then_stay_as_they_are(tmp_path):
    path = tmp_path / "numbers.ipynb"
    notebook = small_notebook()
    del notebook.cells[2]
    notebook.cells[1].outputs[0].text = "something else"
    notebook.cells[1].metadata["execution"] = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    store(notebook, path)
    assert refresh(path) == "stored"
    first = path.read_bytes()
    stored = read(path)
    assert [cell.id for cell in stored.cells] == ["title", "number", "error"]
    assert [cell.get("execution_count") for cell in stored.cells] == [None, 1, 2]
    assert stored.cells[1].outputs[0].text == "0.2857142857142857\n"
    assert "execution" not in stored.cells[1].metadata
    assert refresh(path) == "unchanged"
    assert path.read_bytes() == first


def test_a_notebook_that_fails_stays_as_it_is(tmp_path):
    path = tmp_path / "numbers.ipynb"
    notebook = small_notebook()
    notebook.cells[3].metadata["tags"] = []
    store(notebook, path)
    before = path.read_bytes()
    with pytest.raises(CellExecutionError, match="too far"):
        refresh(path)
    assert path.read_bytes() == before
