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
WIDEST = 84  # letters of a line of code, and of a printed line with columns


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
    files = [*BOOK.rglob("*.ipynb"), *BOOK.rglob("*.md")]
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
def test_what_readers_open_on_the_page_is_closed_in_jupyterlab_too(path):
    for cell in code_cells(read(path)):
        closed = cell.metadata.get("jupyter", {})
        output, code = (closed.get(f"{part}_hidden", False) for part in ("outputs", "source"))
        assert output == bool({"hide-output", "hide-cell"} & set(tags(cell))), f"{cell.id}: run make notebooks"
        assert code == bool({"hide-input", "hide-cell"} & set(tags(cell))), f"{cell.id}: run make notebooks"


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


@notebooks
def test_lines_of_code_fit_on_the_page(path):
    long = [
        (cell.id, line) for cell in code_cells(read(path)) for line in cell.source.splitlines() if len(line) > WIDEST
    ]
    assert long == [], f"lines of more than {WIDEST} letters"


@notebooks
def test_printed_lines_fit_on_the_page_unless_they_are_sentences_that_break(path):
    printed = [
        (cell.id, line)
        for cell in code_cells(read(path))
        for output in cell.outputs
        for line in _printed(output).splitlines()
    ]
    assert [(name, line) for name, line in printed if len(line) > WIDEST and re.search(r"\S {2,}\S", line)] == []
    sentences = [line for _, line in printed if len(line) > WIDEST]
    assert [line for line in sentences if max(map(len, line.split())) > 30] == [], "a word that cannot be broken"


def _printed(output):
    """What a page shows of an output as plain text."""
    if output.output_type == "stream":
        return output.text
    data = output.get("data", {})
    return "" if {"text/markdown", "text/latex", "image/svg+xml"} & set(data) else data.get("text/plain", "")


@notebooks
def test_a_picture_with_curves_of_several_styles_says_what_they_are(path):
    code = "\n".join(cell.source for cell in code_cells(read(path)))
    pictures = [drawn.partition("figures.show(")[0] for drawn in code.split("figures.axes(")[1:]]
    styled = [drawn for drawn in pictures if re.search(r'"(--|-\.|:)"', drawn)]
    assert [drawn for drawn in styled if not re.search(r"figures\.(legend|label)\(", drawn)] == []


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
    """Return a correct notebook: a printed number, a picture, an error that is meant, a cell with several outputs."""
    picture = png((1, 2, 3))
    show = f"import base64\nfrom IPython.display import Image\nImage(data=base64.b64decode('{picture}'), alt='a dot')"
    data = {"image/png": picture, "text/plain": "<IPython.core.display.Image object>"}
    error = new_output("error", ename="ValueError", evalue="too far", traceback=["ValueError: too far"])
    notebook = new_notebook(
        cells=[
            new_markdown_cell("# A notebook", id="title"),
            new_code_cell("print(2 / 7)", id="number", execution_count=1),
            new_code_cell(show, id="picture", execution_count=2),
            new_code_cell('raise ValueError("too far")', id="error", execution_count=3),
            new_code_cell(SEVERAL, id="several", execution_count=4),
        ]
    )
    notebook.cells[1].outputs = [new_output("stream", name="stdout", text="0.2857142857142857\n")]
    notebook.cells[2].outputs = [new_output("execute_result", data, execution_count=2)]
    notebook.cells[2].outputs[0].metadata = {"image/png": {"alt": "a dot"}}
    notebook.cells[3].outputs = [error]
    notebook.cells[3].metadata["tags"] = ["raises-exception"]
    notebook.cells[4].outputs = [
        new_output("stream", name="stdout", text="torque\n"),
        new_output("display_data", {"text/markdown": "$\\tau_1$"}),
        new_output("display_data", {"text/markdown": "$\\tau_2$", "text/plain": "tau 2"}),
        new_output("stream", name="stderr", text="careful\n"),
        new_output("execute_result", {"text/plain": "42"}, execution_count=4),
    ]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


SEVERAL = """import sys
from IPython.display import display
print("torque")
display({"text/markdown": r"$\\tau_1$"}, raw=True)
display({"text/markdown": r"$\\tau_2$", "text/plain": "tau 2"}, raw=True)
print("careful", file=sys.stderr)
42"""


def outputs_of(notebook, cell):
    return notebook.cells[cell].outputs


def at(cell, output=None):
    """Return a function that makes a change of one output, or of all outputs of a cell, to a change of a notebook."""

    def of_notebook(change):
        def mistake(notebook):
            outputs = outputs_of(notebook, cell)
            if output is None:
                change(outputs)
            else:
                outputs[output] = change(outputs[output]) or outputs[output]

        return mistake

    return of_notebook


def text(new):
    return lambda output: output.update(text=new)


def entry(kind, new):
    return lambda output: output.data.update({kind: new})


def without(kind):
    return lambda output: output.data.pop(kind) and None


def as_stream(name, words):
    return lambda output: new_output("stream", name=name, text=words)


def tagged(*tags):
    return lambda notebook: notebook.cells[1].metadata.update(tags=list(tags))


def with_metadata(**metadata):
    return lambda notebook: notebook.cells[1].metadata.update(metadata)


def with_source(change):
    return lambda notebook: notebook.cells[1].update(source=change(notebook.cells[1].source))


def numbered(cell, count):
    return lambda notebook: notebook.cells[cell].update(execution_count=count)


def exchanged(i, j):
    def exchange(outputs):
        outputs[i], outputs[j] = outputs[j], outputs[i]

    return exchange


def never_run(notebook):
    notebook.cells[1].outputs = []
    notebook.cells[1].execution_count = None


PICTURE = "<IPython.core.display.Image object>"
MISTAKES = {
    # what is printed
    "wrong digit": at(1, 0)(text("0.2857142857142858\n")),
    "digit missing": at(1, 0)(text("0.285714285714285\n")),
    "sign": at(1, 0)(text("-0.2857142857142857\n")),
    "blank more": at(1, 0)(text("0.2857142857142857 \n")),
    "line end missing": at(1, 0)(text("0.2857142857142857")),
    "line more": at(1, 0)(text("0.2857142857142857\n\n")),
    "nothing printed": at(1, 0)(text("")),
    "printed as an error": at(1, 0)(lambda output: output.update(name="stderr")),
    "printed as a result": at(1, 0)(lambda output: new_output("display_data", {"text/plain": "0.2857142857142857"})),
    "output cleared": at(1)(list.clear),
    "output twice": at(1)(lambda outputs: outputs.append(new_output("display_data", {"text/plain": "again"}))),
    "error output more": at(1)(lambda outputs: outputs.append(as_stream("stderr", "a warning\n")(None))),
    "empty stream more": at(1)(lambda outputs: outputs.append(as_stream("stderr", "")(None))),
    "never run": never_run,
    # a picture
    "wrong pixel": at(2, 0)(entry("image/png", png((1, 2, 4)))),
    "no picture": at(2, 0)(without("image/png")),
    "picture only": at(2, 0)(without("text/plain")),
    "other text beside the picture": at(2, 0)(entry("text/plain", "<Image object>")),
    "picture of another kind": at(2, 0)(lambda output: entry("image/jpeg", output.data.pop("image/png"))(output)),
    "picture more": at(2, 0)(entry("image/svg+xml", "<svg/>")),
    "page more": at(2, 0)(entry("text/html", "<b>42</b>")),
    "other description of the picture": at(2, 0)(lambda output: output.metadata.update({"image/png": {"alt": "x"}})),
    "no description of the picture": at(2, 0)(lambda output: output.metadata.clear()),
    "width of the picture": at(2, 0)(lambda output: output.metadata["image/png"].update(width=400)),
    "picture shown, not returned": at(2, 0)(
        lambda output: new_output("display_data", output.data, metadata=output.metadata)
    ),
    "picture twice": at(2)(lambda outputs: outputs.append(outputs[0])),
    "result with another number": at(2, 0)(lambda output: output.update(execution_count=7)),
    # an error
    "other words of the error": at(3, 0)(lambda output: output.update(evalue="too near")),
    "other error": at(3, 0)(lambda output: output.update(ename="TypeError")),
    "error printed": at(3, 0)(as_stream("stderr", "ValueError: too far\n")),
    "error cleared": at(3)(list.clear),
    "print before the error": at(3)(lambda outputs: outputs.insert(0, as_stream("stdout", "so\n")(None))),
    # several outputs
    "first output missing": at(4)(lambda outputs: outputs.pop(0) and None),
    "formula missing": at(4)(lambda outputs: outputs.pop(1) and None),
    "warning missing": at(4)(lambda outputs: outputs.pop(3) and None),
    "result missing": at(4)(lambda outputs: outputs.pop() and None),
    "print after formula": at(4)(exchanged(0, 1)),
    "formulas exchanged": at(4)(exchanged(1, 2)),
    "warning before formula": at(4)(exchanged(2, 3)),
    "result before warning": at(4)(exchanged(3, 4)),
    "result first": at(4)(exchanged(0, 4)),
    "other formula": at(4, 1)(entry("text/markdown", r"$\tau_3$")),
    "formula as page": at(4, 1)(lambda output: entry("text/html", output.data.pop("text/markdown"))(output)),
    "formula as TeX": at(4, 1)(lambda output: entry("text/latex", output.data.pop("text/markdown"))(output)),
    "text beside the formula": at(4, 1)(entry("text/plain", "tau 1")),
    "no text beside the formula": at(4, 2)(without("text/plain")),
    "formula returned": at(4, 1)(lambda output: new_output("execute_result", output.data, execution_count=4)),
    "formula printed": at(4, 1)(as_stream("stdout", "$\\tau_1$")),
    "metadata of the formula": at(4, 1)(lambda output: output.metadata.update(isolated=True)),
    "result shown": at(4, 4)(lambda output: new_output("display_data", output.data)),
    "result printed": at(4, 4)(as_stream("stdout", "42\n")),
    "result without number": at(4, 4)(lambda output: output.update(execution_count=None)),
    "other result": at(4, 4)(entry("text/plain", "43")),
    "warning printed": at(4, 3)(lambda output: output.update(name="stdout")),
    "other warning": at(4, 3)(text("careless\n")),
    "warning twice": at(4)(lambda outputs: outputs.insert(3, as_stream("stderr", "careful\n")(None))),
    # how a cell was run, and what keeps it from being compared or shown
    "run in another order": numbered(1, 2),
    "run after a restart": numbered(4, 1),
    "never run with outputs": numbered(1, None),
    "comment that ignores": with_source(lambda source: "# NBVAL_IGNORE_OUTPUT\n" + source),
    "comment that skips": with_source(lambda source: "# NBVAL_SKIP\n" + source),
    "comment of the older name": with_source(lambda source: "# PYTEST_VALIDATE_IGNORE_OUTPUT\n" + source),
    "other code": with_source(lambda source: source.replace("7", "8")),
    "no code": with_source(lambda source: ""),
    "tag that ignores": tagged("nbval-ignore-output"),
    "tag that skips": tagged("nbval-skip"),
    "tag for an error that is none": tagged("raises-exception"),
    "cell removed from the page": tagged("remove-cell"),
    "output removed from the page": tagged("remove-output"),
    "code removed from the page": tagged("hide-output", "remove-input"),
    "execution skipped": tagged("skip-execution"),
    "output removed by metadata": with_metadata(mystnb={"remove_code_outputs": True}),
    "cell hidden in an editor": with_metadata(jupyter={"outputs_hidden": True}),
    "closed without a tag, in another way": with_metadata(jupyter={"source_hidden": True}),
    "metadata without a value": with_metadata(slideshow=None),
    "output collapsed": with_metadata(collapsed=True),
}


TWO = ("-n", "2", "--dist", "loadfile")  # like `make test`; for a few notebooks one process is ready sooner


def run_nbval(folder, *options):
    """Run nbval on a folder as `make test` does; return the exit code and the failures in each notebook."""
    shutil.copy(BOOK / "conftest.py", folder)
    shutil.copy(ROOT / "pyproject.toml", folder)  # the same settings of pytest
    report = folder / "report.xml"
    command = [*NBVAL, f"--junit-xml={report}", *options, "."]
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


def all_mistakes():
    """Return a notebook in which each cell has one mistake, in order, so that one kernel runs them all."""
    notebook, place = new_notebook(metadata=small_notebook().metadata), 1
    for name, mistake in MISTAKES.items():
        right, wrong = small_notebook(), small_notebook()
        mistake(wrong)
        (cell,) = [cell for cell, before in zip(wrong.cells, right.cells, strict=True) if cell != before]
        shift = place - right.cells[wrong.cells.index(cell)].execution_count
        for counted in [cell, *cell.outputs]:
            if counted.get("execution_count") is not None:
                counted.execution_count += shift
        cell.id = name.replace(" ", "-").replace(",", "")
        notebook.cells.append(cell)
        place += bool(cell.source)
    return notebook


def test_nbval_passes_a_correct_notebook_and_fails_each_mistake(tmp_path):
    store(small_notebook(), tmp_path / "correct.ipynb")
    store(all_mistakes(), tmp_path / "mistakes.ipynb")
    done, failures = run_nbval(tmp_path, *TWO)
    assert failures["correct"] == 0, done.stdout
    cases = ElementTree.parse(tmp_path / "report.xml").iter("testcase")
    passed = [case.get("name") for case in cases if case.find("failure") is None and case.find("error") is None]
    assert passed == [f"{cell.id} [{cell.execution_count}]" for cell in code_cells(small_notebook())]
    assert failures["mistakes"] == len(MISTAKES)


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
    MISTAKES["wrong digit"](digit)
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
    assert [cell.id for cell in stored.cells] == ["title", "number", "error", "several"]
    assert [cell.get("execution_count") for cell in stored.cells] == [None, 1, 2, 3]
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
    command = [*NBVAL, *TWO, "-p", "no:cacheprovider", "-q", "book"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | older, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout[-3000:]
