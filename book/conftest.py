"""Make nbval strict: every output of every cell is compared, pictures too, and nothing can opt out.

By itself nbval lets a wrong picture pass, a cell that was never run, and any cell that asks to be ignored.
pytest reads this file when it is given the folder `book`.
"""

import pytest

collect_ignore = ["_ext", "_static", "registry"]

PICTURES = ("image/png", "image/jpeg", "image/svg+xml")
MARKERS = ("NBVAL_", "PYTEST_VALIDATE_")
TAGS = ("nbval-", "pytest-validate-")


def pytest_configure(config):
    """Refuse the options with which outputs would go unchecked."""
    for name in ("nbval_sanitize_with", "sanitize_with", "nbval_lax", "nbval_kernel_name", "nbdime"):
        if getattr(config.option, name, None):
            option = name.replace("_", "-")
            raise pytest.UsageError(f"--{option} is refused: it would let outputs of the book pass unchecked")


def pytest_collection_modifyitems(items):
    """Compare pictures, which nbval skips."""
    for item in items:
        if type(item).__name__ == "IPyNbCell":
            file = item.parent
            file.skip_compare = tuple(key for key in file.skip_compare if key not in PICTURES)


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
    if any(tag.lower().startswith(TAGS) for tag in cell.metadata.get("tags", [])):
        return "the cell has a tag for nbval; outputs are always compared, so remove it"
    if item.options.get("skip") or not item.options.get("check"):
        return "comparison of outputs is switched off for this cell"
    if cell.source.strip() and cell.execution_count is None:
        return "the cell was never run, so it has no outputs to compare with: make notebooks"
    if item.options.get("check_exception") and not any(output.output_type == "error" for output in cell.outputs):
        return "the cell is tagged raises-exception, but its stored output is no error"
    return ""
