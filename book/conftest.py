"""Make nbval strict and its failures readable.

Strict: all outputs of every cell are compared, their kind, order, metadata and pictures too, and nothing can opt out.
By itself nbval lets pass a wrong picture, a cell that was never run, outputs in another order or of another kind, and
any cell that asks to be ignored.
Readable: a failure names the cell as editors show it, and says what is stored and what comes out now.
pytest reads this file when it is given the folder `book`.
"""

import difflib
import functools
import re

import pytest

collect_ignore = ["_ext", "_static", "registry"]

MARKERS = ("NBVAL_", "PYTEST_VALIDATE_")
TAGS = ("nbval-", "pytest-validate-")
ALLOWED = ("hide-cell", "hide-input", "hide-output", "raises-exception")  # tags with which everything stays on the page
CLOSED = {  # what an editor may close, by these tags alone
    "outputs_hidden": {"hide-cell", "hide-output"},
    "source_hidden": {"hide-cell", "hide-input"},
}
LINES, WIDTH, AROUND = 15, 200, 40  # what a failure shows: lines of a text, letters of a line, letters around a place


def pytest_configure(config):
    """Refuse the options with which outputs would go unchecked."""
    for name in ("nbval_sanitize_with", "sanitize_with", "nbval_lax", "nbval_kernel_name", "nbdime"):
        if getattr(config.option, name, None):
            option = name.replace("_", "-")
            raise pytest.UsageError(f"--{option} is refused: it would let outputs of the book pass unchecked")


def pytest_runtest_setup(item):
    """Refuse a cell that nbval would pass without comparing anything."""
    if type(item).__name__ != "IPyNbCell":
        return
    reason = why_refused(item)
    if reason:
        pytest.fail(f"{item.parent.path.name}, {item.name}: {reason}", pytrace=False)


def why_refused(item):
    """Say why a cell may not be checked as it is; empty if it may."""
    cell = item.cell
    if any(marker in cell.source for marker in MARKERS):
        return "a comment for nbval stands in the cell; outputs are always compared, so remove it"
    tags = cell.metadata.get("tags", [])
    if any(tag.lower().startswith(TAGS) for tag in tags):
        return "the cell has a tag for nbval; outputs are always compared, so remove it"
    if others := sorted(set(tags) - set(ALLOWED)):
        return (
            f"the cell has the tag {others[0]!r}; readers see every cell and output, so use only {', '.join(ALLOWED)}"
        )
    parts = {part: True for part, closing in CLOSED.items() if closing & set(tags)}
    closed = {"jupyter": parts} if parts else {}
    if others := sorted(key for key, value in cell.metadata.items() if key != "tags" and {key: value} != closed):
        return f"the cell has the metadata {others[0]!r}, which can change what readers see: make notebooks"
    if item.options.get("skip") or not item.options.get("check"):
        return "comparison of outputs is switched off for this cell"
    if cell.source.strip() and cell.execution_count is None:
        return "the cell was never run, so it has no outputs to compare with: make notebooks"
    if cell.execution_count != (place := place_of(item)):
        return f"the cell was run as number {cell.execution_count}, but it is number {place}: make notebooks"
    if any(output.get("execution_count", place) != place for output in cell.outputs):
        return f"an output of the cell has another number than the cell, {place}: make notebooks"
    if item.options.get("check_exception") and not any(output.output_type == "error" for output in cell.outputs):
        return "the cell is tagged raises-exception, but its stored output is no error"
    return ""


def place_of(item):
    """Return the place of a cell among those of its notebook that hold code; None for an empty cell."""
    cells = [cell for cell in item.parent.nb.cells if cell.cell_type == "code" and cell.source.strip()]
    return next((place for place, cell in enumerate(cells, start=1) if cell is item.cell), None)


def compare(item, now, stored):
    """Say whether the outputs of a cell are those that are stored; takes the place of nbval's own comparison."""
    item.comparison_traceback = []
    return [entries(output) for output in now] == [entries(output) for output in stored]


def entries(output):
    """Return what one output holds by name, such as `text/plain` or `ename`.

    A traceback names places in files, and nbval's kernel does not count the cells.
    """
    apart = ("data", "metadata", "traceback", "execution_count")
    found = {key: value for key, value in output.items() if key not in apart}
    found["metadata"] = dict(output.get("metadata", {}))
    return found | dict(output.get("data", {}))


# ---- What a failure says ---------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector):
    """Have each notebook name its cells as editors do."""
    if type(collector).__name__ == "IPyNbFile":
        cells = collector.collect
        collector.collect = lambda: [named(cell) for cell in cells()]


def named(item):
    """Return a cell under its id and execution count, such as `newton-euler-35 [19]`; nbval counts from 0."""
    count = " " if item.cell.execution_count is None else item.cell.execution_count
    name = f"{item.cell.get('id', f'cell {item.cell_num}')} [{count}]"
    again = {"cell_num": item.cell_num, "cell": item.cell, "options": item.options}
    item = type(item).from_parent(item.parent, name=name, **again)
    item.compare_outputs = functools.partial(compare, item)
    item.location = (*item.location[:2], item.nodeid)  # what pytest writes above a failure
    return item


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Put our words in the place of nbval's; what counts as a failure stays nbval's decision."""
    report = yield
    if type(item).__name__ == "IPyNbCell" and report.failed:
        before = vars(item.parent).setdefault("first_failure", item.name)
        if call.excinfo.typename == "NbCellError":
            notes = [] if before == item.name else [f"{before} of this notebook failed before; begin there."]
            report.longrepr = representation("\n".join([*explain(item, call.excinfo.value), *notes]))
    return report


def representation(message):
    """Return a message in the form in which pytest shows it as it is, and its first line in lists."""
    try:
        pytest.fail(message, pytrace=False)
    except pytest.fail.Exception as failure:
        return pytest.ExceptionInfo.from_exception(failure).getrepr(style="value")


def explain(item, error):
    """Return the lines that say what is wrong with a cell, the most useful one first."""
    first = next((line for line in item.cell.source.splitlines() if line.strip()), "")
    count = item.cell.execution_count
    where = [
        f"notebook: {item.parent.nodeid}",
        f"cell:     [{' ' if count is None else count}], id {item.cell.get('id')}, begins: {clipped(first)}",
    ]
    raised = next((output for output in item.test_outputs or [] if output.output_type == "error"), None)
    if raised and not item.options["check_exception"]:
        through = calls(raised["traceback"], item.config.rootpath)
        reason = raised["evalue"].strip() or " ".join(through[1:2]).strip()
        message = f"{raised['ename']}: {reason}".splitlines()
        more = [f"  {clipped(line)}" for line in message[1:LINES]]
        return [clipped(message[0]), *more, *where, *through]
    found = differences(item)
    if not found:  # a reason of nbval's own, such as a cell that takes too long
        return [str(error), *where, *str(error.inner_traceback or "").splitlines()[:LINES]]
    kind, stored, now = found[0]
    head = f"{kind} differs"
    if stored is None or now is None:
        head = (
            f"{kind} {'comes out now, but is not stored' if stored is None else 'is stored, but does not come out now'}"
        )
    elif not kind.startswith("image/") or kind.endswith("xml"):
        places = [excerpt(text, first_difference(stored, now), 20) for text in (stored, now)]
        head += ': stored "{}", now "{}"'.format(*places)
    shown = [line for each in found[:2] for line in compared(*each)]
    if len(found) > 2:
        shown.append(f"and {len(found) - 2} more differences in this cell")
    cure = f"If the new output is right: python -m tools notebooks {item.parent.path.stem}"
    return [head, *where, *shown, cure]


def differences(item):
    """Return (kind, stored, now) of each output that differs, texts before formulas and pictures; None if missing."""
    stored, now = (by_kind(outputs) for outputs in (item.cell.outputs, item.test_outputs))
    found = []
    for kind in {**stored, **now}:
        pair = [stored.get(kind, []), now.get(kind, [])]
        for place in range(max(map(len, pair))):
            left, right = (texts[place] if place < len(texts) else None for texts in pair)
            if left != right:
                found.append((kind, left, right))
    if not found:  # the same texts, but not the same outputs
        found = [("outputs", *("\n".join(map(outline, outputs)) for outputs in (item.cell.outputs, item.test_outputs)))]
    return sorted(found, key=lambda each: ("/" in each[0], each[0] != "text/plain"))


def by_kind(outputs):
    """Return the texts of outputs by their kind, such as `stdout` or `image/svg+xml`."""
    texts = {}
    for output in outputs:
        if output.output_type == "stream":
            texts.setdefault(output["name"], []).append(output["text"])
            continue
        shown = {key: output[key] for key in ("ename", "evalue") if key in output}
        for kind, text in {**shown, **output.get("data", {})}.items():
            texts.setdefault(kind, []).append(str(text))
    return texts


def outline(output):
    """Return one line that says what kind of output this is, with its metadata but without its texts."""
    words = [output.output_type, output.get("name", ""), ", ".join(sorted(output.get("data", {})))]
    return " ".join(filter(None, [*words, str(dict(output["metadata"])) if output.get("metadata") else ""]))


def compared(kind, stored, now):
    """Return the lines that show an output as it is stored and as it comes out now."""
    if kind.startswith("image/") and not kind.endswith("xml"):
        pair = [f"  {'nothing' if text is None else f'a picture of {len(text)} letters'}" for text in (stored, now)]
        return [f"stored: ({kind})", pair[0], "now:", pair[1]]
    if stored is None or now is None:
        pair = [["  nothing"] if text is None else short(text) for text in (stored, now)]
        return [f"stored: ({kind})", *pair[0], "now:", *pair[1]]
    lines = [text.splitlines() for text in (stored, now)]
    wide = any(len(line) > WIDTH for line in [*lines[0], *lines[1]])
    blank = [line.rstrip() for line in lines[0]] == [line.rstrip() for line in lines[1]]
    if kind.endswith("xml") or kind in {"text/latex", "text/markdown", "text/html"} or wide or blank:
        at = first_difference(stored, now)
        line = stored.count("\n", 0, at) + 1
        pair = [f"  {excerpt(text, at, AROUND)}" for text in (stored, now)]
        return [f"stored: ({kind}, line {line}, where the two first differ)", pair[0], "now:", pair[1]]
    if max(map(len, lines)) <= LINES:
        return [f"stored: ({kind})", *short(stored), "now:", *short(now)]
    diff = list(difflib.unified_diff(*lines, "stored", "now", n=1, lineterm=""))
    cut = [f"  ({len(diff) - 2 * LINES} more lines)"] if len(diff) > 2 * LINES else []
    return [f"stored is -, now is + ({kind}):", *(f"  {line}" for line in diff[2 : 2 * LINES]), *cut]


def first_difference(left, right):
    """Return the place at which two texts begin to differ."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(left), len(right)))


def excerpt(text, at, around):
    """Return the part of a text around a place, on one line."""
    start, end = max(0, at - around), at + around
    part = text[start:end].replace("\n", "\u23ce")
    return f"{'…' if start else ''}{part}{'…' if end < len(text) else ''}"


def short(text):
    """Return the lines of a text, not too many and not too long."""
    lines = text.splitlines()
    cut = [f"  ({len(lines) - LINES} more lines)"] if len(lines) > LINES else []
    return [f"  {clipped(line)}" for line in lines[:LINES]] + cut


def clipped(line):
    """Return a line, not too long."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


def calls(traceback, folder):
    """Return the calls that led to an error, from the cell inwards: the line of each and where it stands."""
    found, place = [], ""
    for line in re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(traceback)).splitlines():
        start = re.match(r"Cell In\[\d+\], (line \d+)|File (\S+:\d+)", line)
        if start:
            place = f"this cell, {start[1]}" if start[1] else start[2].removeprefix(f"{folder}/")
        arrow = re.match(r"-+> *\d+ (.*)", line)
        if arrow and place:
            found.append(f"  {place}: {clipped(arrow[1].strip())}")
    middle = [f"  ({len(found) - 3} calls between)"] if len(found) > 3 else []
    return ["raised by:", *found[:1], *middle, *found[1:][-2:]] if found else []
