"""The notebooks of the book: complete, in order, readable, and really compared by nbval."""

import base64
import io
import json
import os
import platform
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
from tools.test import failures as summary_of

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
    collected = re.findall(r"^book/(.+\.ipynb)::\S+ \[[\d ]+\]$", done.stdout, flags=re.MULTILINE)
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


NUMBER = "import math\n\nmath.sqrt(2)"
FIGURE = """from dynlib import figures

figure, ax = figures.axes()
ax.plot([0, 1, 2], [3, 5, 4])
figures.show(figure, alt="A line that rises and falls.")"""


@pytest.fixture(scope="module")
def run_notebook(tmp_path_factory):
    """Return the path of a notebook that was run: it has a number and a figure of dynlib."""
    path = tmp_path_factory.mktemp("run") / "run.ipynb"
    store(new_notebook(cells=[new_code_cell(NUMBER, id="number"), new_code_cell(FIGURE, id="figure")]), path)
    assert refresh(path) == "stored"
    return path


def changed(text, place):
    """Return a text with another digit at a place."""
    return text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]


def test_nbval_notices_a_digit_and_a_figure_changed(run_notebook, tmp_path):
    shutil.copy(run_notebook, tmp_path / "same.ipynb")
    digit = read(run_notebook)
    data = digit.cells[0].outputs[0].data
    assert data["text/plain"] == "1.4142135623730951"
    data["text/plain"] = changed(data["text/plain"], 17)
    store(digit, tmp_path / "digit.ipynb")

    figure = read(run_notebook)
    (data,) = [output.data for output in figure.cells[1].outputs if "image/svg+xml" in output.get("data", {})]
    strokes = list(re.finditer(r'\bd="M [^"]*?(\d)', data["image/svg+xml"]))
    data["image/svg+xml"] = changed(data["image/svg+xml"], strokes[len(strokes) // 2].start(1))
    store(figure, tmp_path / "figure.ipynb")

    done, failures = run_nbval(tmp_path)
    assert done.returncode == 1, done.stdout
    assert failures == {"same": 0, "digit": 1, "figure": 1}, done.stdout


# ---- Can a failure be read? ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(run_notebook, tmp_path_factory):
    """Return the lines that nbval gives for each of four notebooks with one thing wrong."""
    folder = tmp_path_factory.mktemp("failing")
    digit, long, check = (small_notebook() for _ in range(3))
    wrong_digit(digit)
    long.cells[1].source = "for i in range(100):\n    print(i)"
    long.cells[1].outputs[0].text = "".join(f"{i}\n" for i in range(100) if i != 50) + "100\n"
    check.cells[1].source = 'from dynlib import check\n\ncheck.erratum("E7", computed=2.0, corrected=3.0)'
    figure = read(run_notebook)
    data = next(output.data for output in figure.cells[1].outputs if "image/svg+xml" in output.get("data", {}))
    data["image/svg+xml"] = data["image/svg+xml"].replace("<path", "<trail", 1)
    for name, notebook in {"digit": digit, "long": long, "check": check, "figure": figure}.items():
        store(notebook, folder / f"{name}.ipynb")
    done, failures = run_nbval(folder)
    assert failures == {"digit": 1, "long": 1, "check": 1, "figure": 1}, done.stdout
    _, *parts = re.split(r"^_+ (\w+)\.ipynb::", done.stdout, flags=re.MULTILINE)
    return {name: part.splitlines() for name, part in zip(parts[::2], parts[1::2], strict=True)}


def test_a_failure_shows_what_is_stored_and_what_comes_out_now(reports):
    lines = reports["digit"]
    assert lines[0].startswith("number [1] ___")
    at = lines.index("notebook: digit.ipynb")
    assert lines[at - 1 : at + 7] == [
        'stdout differs: stored "0.2857142857142858⏎", now "0.2857142857142857⏎"',
        "notebook: digit.ipynb",
        "cell:     [1], id number, begins: print(2 / 7)",
        "stored: (stdout)",
        "  0.2857142857142858",
        "now:",
        "  0.2857142857142857",
        "If the new output is right: python -m tools notebooks digit",
    ]


def test_a_failure_with_a_long_output_is_short(reports):
    lines = reports["long"]
    at = lines.index("stored is -, now is + (stdout):")
    diff = ["@@ -50,2 +50,3 @@", " 49", "+50", " 51", "@@ -99,2 +100 @@", " 99", "-100"]
    assert lines[at + 1 : at + 8] == [f"  {line}" for line in diff]


def test_a_failure_of_a_figure_shows_the_place(reports):
    lines = reports["figure"]
    at = next(at for at, line in enumerate(lines) if line.startswith("stored: (image/svg+xml, line "))
    assert "<trail" in lines[at + 1]
    assert "<path" in lines[at + 3]
    assert max(len(line) for line in lines[at : at + 4]) < 100


def test_a_failure_of_a_check_begins_with_its_sentence(reports):
    lines = reports["check"]
    at = lines.index("notebook: check.ipynb")
    assert lines[at - 1].startswith("AssertionError: E7: the correction does not hold: the value is 2, expected 3")
    assert lines[at + 3].startswith('  this cell, line 3: check.erratum("E7"')


def test_the_summary_names_failures_of_checks_first(tmp_path):
    report = tmp_path / "report.xml"
    case = '<testcase file="a.py" name="{}"><failure message="{}"/></testcase>'
    cases = [("test_a[1]", "ValueError: x&#10;y"), ("test_a[2]", "z"), ("test_b", "AssertionError:&#10;E7: no")]
    report.write_text(f"<r>{''.join(case.format(*each) for each in cases)}</r>", encoding="utf-8")
    assert summary_of(report) == [
        "a.py::test_b: AssertionError: E7: no",
        "a.py::test_a[1] and 1 more of its cases: ValueError: x",
    ]


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


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names the instructions of one kind of processor")
def test_stored_outputs_do_not_depend_on_the_processor():
    """NumPy and OpenBLAS choose their instructions by the processor; without the newer ones the last digits differ."""
    older = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4", "OPENBLAS_CORETYPE": "Prescott"}
    command = [*NBVAL, "-n", "2", "--dist", "loadfile", "-p", "no:cacheprovider", "-q", "book"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | older, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-3000:]
