"""The registry of equations and errata, the checks in the notebooks that it counts, and the two pages made from it."""

import re
import shutil

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import appendices
from tools.appendices import BOOK, AppendixError, scan_cell

REGISTRY = appendices.load_registry()
EQUATIONS = {each.number: each for each in REGISTRY.equations}
ERRATA = {each.id: each for each in REGISTRY.errata}


@pytest.fixture(scope="module")
def pages():
    """The pages of the book as it stands."""
    return appendices.make_pages()


# ---- The registry --------------------------------------------------------------------------------


def test_every_numbered_equation_is_there_in_order():
    sections = {"A5.2.2": 2, "A5.2.3": 4, "A5.2.4": 7, "A5.2.5": 2, "A5.2.6": 27, "A5.3.1": 1, "A5.3.2": 19}
    expected = [f"{section}-{i}" for section, count in sections.items() for i in range(1, count + 1)]
    assert [each.number for each in REGISTRY.equations if each.document == "A"] == expected
    of_b = [each.number for each in REGISTRY.equations if each.document == "B" and not each.own]
    position = [f"B1.{i}" for i in range(1, 12)] + ["2.1", "2.2", "B1.12", "2.3", "2.4", "2.5", "B1.13", "B1.14"]
    assert of_b == position + [f"B3.{i}" for i in range(1, 14)]
    own = [each.number for each in REGISTRY.equations if each.own]
    assert own == ["B3.1c", "B3.3c", "B3.10c", "B3.12c", "B3.14c"]
    assert (len(expected), len(of_b), len(own), len(EQUATIONS)) == (62, 32, 5, 99)


def test_every_erratum_is_there_in_order():
    expected = [f"E{i}" for i in range(1, 36)]
    for extra in ("E1b", "E13b", "E27b"):
        expected.insert(expected.index(extra[:-1]) + 1, extra)
    assert [each.id for each in REGISTRY.errata] == expected


@pytest.mark.parametrize("equation", REGISTRY.equations, ids=lambda each: each.number)
def test_equation_is_well_formed(equation):
    assert equation.kind in {"definition", "postulate", "derived", "corrected"}
    assert f"section {equation.section}" in appendices.TEXT
    assert equation.about
    assert not equation.about.endswith(".")
    assert balanced(equation.tex)
    assert "\\tag" not in equation.tex
    assert "$" not in equation.tex
    assert bool(equation.errata) == (equation.kind == "corrected"), "a corrected equation names its errata"
    for name in equation.errata:
        assert equation.number in ERRATA[name].equations
    assert set(equation.corrects) <= {each.number for each in EQUATIONS.values() if each.kind == "corrected"}


@pytest.mark.parametrize("erratum", REGISTRY.errata, ids=lambda each: each.id)
def test_erratum_is_well_formed(erratum):
    assert f"grade {erratum.grade}" in appendices.TEXT
    assert f"document {erratum.document}" in appendices.TEXT
    for words in (erratum.printed, erratum.correction, erratum.reason, erratum.where):
        assert words.strip()
        assert balanced(words)
        assert words.count("$") % 2 == 0
    assert set(erratum.equations) <= EQUATIONS.keys()
    if erratum.grade in {"wrong", "misleading", "omission", "ambiguity"}:
        assert erratum.check, "what gives or may give other values can be shown by a computation"
    if erratum.grade == "wrong":
        corrected = [number for number in erratum.equations if EQUATIONS[number].kind == "corrected"]
        assert corrected, "an equation that is wrong is of the kind 'corrected'"


def test_an_equation_that_is_wrong_as_printed_is_shown_as_corrected():
    for check in appendices.find_checks():
        if check.function == "equation":
            errata = EQUATIONS[check.number].errata
            named = re.search(r'corrected="([^"]*)"', check.code)
            assert bool(named) == bool(errata), f"{check.code}: say corrected=... exactly where the print is wrong"
            assert not named or set(named[1].split(", ")) <= set(errata), check.code


def test_labels_are_unique():
    labels = [appendices.label("eq", number) for number in EQUATIONS]
    labels += [appendices.label("erratum", name) for name in ERRATA]
    assert len(set(labels)) == len(labels)


def test_every_sentence_stands_in_the_same_languages():
    assert {frozenset(columns) for columns in appendices.TEXT.values()} == {frozenset({"en"})}


def balanced(tex):
    r"""Say whether braces, environments and \left...\right are closed in the order in which they are opened."""
    closing, stack = {"{": "}", "left": "right"}, []
    for found in re.finditer(r"\\(begin|end)\{(\w+\*?)\}|\\(left|right)(?![a-z])|\\[{}\\]|[{}]", tex):
        word, name, side = found.groups()
        if word == "begin":
            stack.append(name)
        elif side == "left" or found[0] == "{":
            stack.append(closing[side or found[0]])
        elif (word or side or found[0] == "}") and (not stack or stack.pop() != (name or side or found[0])):
            return False
    return not stack


@pytest.mark.parametrize(
    ("tex", "expected"),
    [
        (r"\begin{bmatrix}a_{1}\\b\end{bmatrix}", True),
        (r"\left[x\right]+\{i\}\leftarrow", True),
        (r"\begin{bmatrix}a\end{aligned}", False),
        (r"\begin{bmatrix}{a\end{bmatrix}}", False),
        (r"a_{1", False),
        (r"a}", False),
        (r"\left(a", False),
    ],
)
def test_balanced(tex, expected):
    assert balanced(tex) is expected


# ---- The book ------------------------------------------------------------------------------------


def test_pages_are_up_to_date():
    assert appendices.stale_pages() == [], "run: python -m tools.appendices"


def test_every_equation_is_derived_or_corrected(pages):
    assert pages.open_equations() == [], "these need a check.equation(...) in a notebook"


def test_every_definition_and_law_shows_where_it_is_used(pages):
    assert pages.unused() == [], "the text of a chapter must link to these, such as [B1.2](#eq-b1-2)"


def test_an_equation_of_the_book_itself_says_so(pages):
    page = pages.render()["equations.md"]
    for each in (each for each in REGISTRY.equations if each.own):
        block = page.partition(f"**{each.number}** ·")[2].partition("\n**")[0]
        assert "This book's own" in block


def test_every_erratum_that_can_be_shown_is_shown(pages):
    assert pages.open_errata() == [], "these need a check.erratum(...) in a notebook"


# ---- The scan of the notebooks -------------------------------------------------------------------


@pytest.fixture
def tiny_book(tmp_path):
    """Return a function that writes a notebook into a book of its own and returns that book."""
    shutil.copytree(BOOK / "registry", tmp_path / "registry")

    def write(*cells, name="tiny.ipynb"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=list(cells)), path)
        return tmp_path

    return write


def numbers(source):
    return [number for _, number, _ in scan_cell(source, "tiny.ipynb, cell 1")]


@pytest.mark.parametrize(
    "source",
    [
        'check.equation("A5.2.6-9", a, b)',
        'dynlib.check.equation("A5.2.6-9", a, b)',
        'verdict = check.equation(\n    "A5.2.6-9",\n    a,\n    b,\n)',
        "print(f\"{check.equation('A5.2.6-9', a, b)!r}\")",
        'assert check.equation("A5.2.6-9", a, b)',
        'for q in states:\n    with quiet():\n        check.equation("A5.2.6-9", f(q), g(q))',
        '%matplotlib inline\ncheck.equation("A5.2.6-9", a, b);',
        '[check.equation("A5.2.6-9", a, b), 1][0].how',
    ],
)
def test_a_check_that_surely_runs_counts(source):
    assert numbers(source) == ["A5.2.6-9"]


@pytest.mark.parametrize(
    "source",
    [
        '# check.equation("A5.2.6-9", a, b)',
        '"""check.equation("A5.2.6-9", a, b)"""',
        'other.equation("A5.2.6-9", a, b)',
        'check.same("A5.2.6-9", a)',
        "check.equation",
        '%%html\n<!-- check.equation("A5.2.6-9", a, b) -->',
    ],
)
def test_what_is_no_check_does_not_count(source):
    assert numbers(source) == []


@pytest.mark.parametrize(
    "source",
    [
        'if False:\n    check.equation("A5.2.6-9", a, b)',
        'def never_called():\n    check.equation("A5.2.6-9", a, b)',
        'class Box:\n    check.equation("A5.2.6-9", a, b)',
        'while waiting():\n    check.equation("A5.2.6-9", a, b)',
        'try:\n    check.equation("A5.2.6-9", a, b)\nexcept AssertionError:\n    pass',
        'with contextlib.suppress(AssertionError):\n    check.equation("A5.2.6-9", a, b)',
        'with pytest.raises(AssertionError):\n    check.equation("A5.2.6-9", a, b)',
        'for q in states:\n    if q:\n        check.equation("A5.2.6-9", a, b)',
        'for q in states:\n    pass\nelse:\n    check.equation("A5.2.6-9", a, b)',
        'later = lambda: check.equation("A5.2.6-9", a, b)',
        'done and check.equation("A5.2.6-9", a, b)',
        'check.equation("A5.2.6-9", a, b) if done else None',
        '(check.equation("A5.2.6-9", a, b) for q in states)',
        'assert done, check.equation("A5.2.6-9", a, b)',
    ],
)
def test_a_check_that_may_not_run_is_refused(source):
    with pytest.raises(AppendixError, match=r"tiny.ipynb, cell 1: check.equation\(.* might never run"):
        numbers(source)


@pytest.mark.parametrize("tag", ["raises-exception", "skip-execution"])
def test_a_check_in_a_cell_that_may_fail_is_refused(tag):
    with pytest.raises(AppendixError, match="might never run"):
        scan_cell('check.erratum("E4", a, printed=b, corrected=c)', "tiny.ipynb, cell 1", [tag])


@pytest.mark.parametrize(
    "source",
    [
        "check.equation(number, a, b)",
        'check.equation(f"A5.2.6-{i}", a, b)',
        'check.equation(number="A5.2.6-9", computed=a, printed=b)',
        "check.equation(*row)",
        "check.equation(9, a, b)",
        "check.equation()",
    ],
)
def test_a_number_that_is_no_literal_is_refused(source):
    with pytest.raises(AppendixError, match=r"tiny.ipynb, cell 1: .* must begin with its number as a literal string"):
        numbers(source)


def test_a_cell_that_is_no_python_is_refused():
    with pytest.raises(AppendixError, match=r"tiny.ipynb, cell 1: not valid Python"):
        numbers("a = = 1")


def test_a_number_that_is_not_registered_is_refused(tiny_book):
    for source in ('check.equation("A5.2.6-99", a, b)', 'check.erratum("E99", a, printed=b, corrected=c)'):
        with pytest.raises(AppendixError, match="99', which is not in the registry"):
            appendices.make_pages(tiny_book(new_code_cell(source)))


def test_a_mention_in_text_does_not_count(tiny_book):
    book = tiny_book(new_markdown_cell('```python\ncheck.equation("A5.2.6-9", a, b)\n```'))
    assert appendices.find_checks(book) == []


def test_a_check_is_named_by_the_nearest_heading_and_linked_by_its_cell(tiny_book):
    cells = [new_code_cell('check.equation("A5.2.6-9", a, b)') for _ in range(5)]
    book = tiny_book(
        cells[0],
        new_markdown_cell("# Newton–Euler: *2R* (推导)\n\nText"),
        cells[1],
        new_markdown_cell("## Velocities of $v_c$ and `omega`\n\n#### Too deep for an anchor"),
        cells[2],
        new_markdown_cell("## Summary\n\n```python\n# no heading\n```"),
        cells[3],
        new_markdown_cell("### Summary"),
        cells[4],
        name="part/one.ipynb",
    )
    title = "Newton–Euler: 2R (推导)"
    headings = ["part/one.ipynb", title, f"{title}, Velocities of $v_c$ and `omega`", *[f"{title}, Summary"] * 2]
    assert [each.heading for each in appendices.find_checks(book)] == headings
    assert [each.link for each in appendices.find_checks(book)] == [f"#cell-{cell.id}" for cell in cells]


def test_a_definition_is_linked_to_the_first_text_that_links_to_it(tiny_book):
    book = tiny_book(
        new_markdown_cell("# Newton–Euler: *2R* (推导)\n\n## Symbols of $v_c$"),
        new_markdown_cell("Short names ([B1.2](#eq-b1-2)), not (A5.2.4-5)."),
        new_markdown_cell("## Later\n\n[B1.2](#eq-b1-2)"),
        name="part/one.ipynb",
    )
    pages = appendices.make_pages(book)
    page = pages.render()["equations.md"]
    assert "Definition. Used in [Newton–Euler: 2R (推导), Symbols of $v_c$](part/one.ipynb#symbols-of-)." in page
    assert "B1.2" not in pages.unused()
    assert "A5.2.4-5" in pages.unused()


def test_headings_with_an_anchor_are_those_of_the_site():
    config = yaml.safe_load((BOOK.parent / "_config.yml").read_text(encoding="utf-8"))
    assert config["sphinx"]["config"]["myst_heading_anchors"] == appendices.HEADING_DEPTH


# ---- The pages -----------------------------------------------------------------------------------


def test_a_book_without_notebooks_has_everything_open(tmp_path):
    shutil.copytree(BOOK / "registry", tmp_path / "registry")
    pages = appendices.make_pages(tmp_path)
    assert pages.open_equations() == [each.number for each in REGISTRY.equations if each.needs_check]
    assert pages.open_errata() == [each.id for each in REGISTRY.errata if each.check]


def test_pages_show_what_is_derived_and_what_is_open(tiny_book):
    source = """check.equation("A5.2.6-9", a, b)
check.equation("A5.2.2-2", a, b)
check.equation("A5.2.4-1", a, b)
check.erratum("E4", a, printed=b, corrected=c)"""
    cell = new_code_cell(source)
    text = appendices.make_pages(tiny_book(new_markdown_cell("# Chapter"), cell)).render()
    equations, errata = text["equations.md"], text["errata.md"]
    place = f"[Chapter](#cell-{cell.id}), guarded by `check.equation"
    assert f'Derived in {place}("A5.2.6-9", a, b)`.' in equations
    assert f"Wrong or incomplete as printed ([E4](#erratum-e4)). Corrected in {place}" in equations
    assert f"Definition. Used in {place}" in equations
    assert "Of 94 numbered equations, asserted by a check: 2; definitions, laws" in equations
    assert "cannot be derived: 13; **open**, not yet derived in this book: 79." in equations
    assert f"in [Chapter](#cell-{cell.id}), guarded by `check.erratum" in errata
    assert "Of 38 entries, shown by a computation: 1; wording, with nothing to compute: 7; **open**" in errata
    for number in EQUATIONS:
        assert f"({appendices.label('eq', number)})=\n**{number}** ·" in equations


def test_long_code_is_shortened(tiny_book):
    source = f'check.equation("A5.2.6-9", {" + ".join(["very_long_name"] * 20)}, b)'
    page = appendices.make_pages(tiny_book(new_code_cell(source))).render()["equations.md"]
    code = re.search(r"guarded by `(.*)`\.", page)[1]
    assert code.endswith("…")
    assert len(code) <= appendices.CODE_WIDTH


def test_writing_is_repeatable_and_stale_pages_are_found(tiny_book):
    book = tiny_book(new_code_cell('check.equation("A5.2.6-9", a, b)'))
    assert appendices.stale_pages(book) == ["equations.md", "errata.md"]
    appendices.write_pages(book)
    first = {name: (book / name).read_bytes() for name in ("equations.md", "errata.md")}
    appendices.write_pages(book)
    assert first == {name: (book / name).read_bytes() for name in first}
    assert all(b"\r" not in page for page in first.values())
    assert sorted(path.name for path in book.iterdir() if path.suffix != ".ipynb") == [*sorted(first), "registry"]
    assert appendices.stale_pages(book) == []
    tiny_book(new_code_cell('check.erratum("E4", a, printed=b, corrected=c)'))
    assert appendices.stale_pages(book) == ["equations.md", "errata.md"]


def test_command_tells_what_is_stale(tiny_book, capsys):
    book = tiny_book(new_code_cell("1 + 1"))
    assert appendices.main(["--check"], book) == 1
    assert "book/equations.md is not up to date: run python -m tools.appendices" in capsys.readouterr().err
    assert appendices.main([], book) == 0
    assert appendices.main(["--check"], book) == 0
    tiny_book(new_code_cell("check.equation(number, a, b)"))
    assert appendices.main([], book) == 1
    assert "must begin with its number" in capsys.readouterr().err
