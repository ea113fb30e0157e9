"""Every numbered check notices when the formula typed in it, or the step of the library under it, is wrong."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields

import nbformat
import numpy as np
import pytest
import sympy
from cells import ALIVE, KILLED, Chapter, Check, changes, replaced
from nbformat.v4 import new_code_cell, new_notebook

from dynlib import acceleration, lagrange, newton_euler, velocity
from dynlib.algebra import Equation
from dynlib.closed_chains import dynamics, velocities
from dynlib.linkages import three_legs
from tools import appendices

CHAPTERS = sorted({each.page.removesuffix(".ipynb") for each in appendices.find_checks()})
CHAPTER = {name: Chapter(name) for name in CHAPTERS}
SHARES = 3  # parts in which the changes of a chapter are tried, for several processors
NO_FORMULA = {  # cells in which the typed side of a check is not a formula but data, and why they may change unseen
    "lagrange-11": "E14 counts by a rank, which is the same for other arms",
    "velocity-02": "the lengths of the arm: link 2 is no part of E3",
    "velocity-18": "the state of E3: the first angle does not change the velocity in the axes of link 2",
}
SAME_ANYWAY = {  # changes that change nothing, and why
    "newton-euler-57b: 0  ->  1": "a turn about the line to the mass centre does not move it",
}


def typed_changes(chapter: Chapter) -> Iterator[tuple[int, str, object, list[Check]]]:
    """Yield each small change of a typed formula: its place, what changes, the code, and the checks that use it."""
    users: dict[int, list[Check]] = {}
    for check in chapter.checks:
        for place in check.typed_places():
            users.setdefault(place, []).append(check)
        for part in check.typed_here():
            for what, code in changes(part):
                yield check.place, what, replaced(chapter.statements[check.place].code, part, code), [check]
    for place, checks in users.items():
        if chapter.statements[place].cell not in NO_FORMULA:
            for what, code in changes(chapter.statements[place].code):
                yield place, what, code, checks


def unnoticed(chapter: Chapter, share: slice = slice(None)) -> list[str]:
    """Return the changes of typed formulas that no check notices; or of a share of them."""
    found = []
    for place, what, code, checks in list(typed_changes(chapter))[share]:
        results = set()
        for check in checks:
            results.add(check.chapter.run_changed(check, place, code))
            if KILLED in results:
                break
        change = f"{chapter.statements[place].cell}: {what}"
        if ALIVE in results and KILLED not in results and change not in SAME_ANYWAY:
            found.append(f"{change} ({', '.join(dict.fromkeys(each.number for each in checks))})")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_typed_formula_cannot_be_changed_unseen(name, share):
    assert unnoticed(CHAPTER[name], slice(share, None, SHARES)) == []


# ---- What finds the weak checks must find them ---------------------------------------------------------

TINY = """import numpy as np
import sympy
from dynlib import check, newton_euler
from dynlib.newton_euler import resultant_force

m, a, b = sympy.symbols("m a b")
def force(step):
    return [step(m, a), step(m, b)]
F = force(resultant_force)"""


@pytest.fixture
def tiny(tmp_path):
    """Return a function that makes a chapter of a few lines."""

    def make(*cells):
        nbformat.write(new_notebook(cells=[new_code_cell(each) for each in (TINY, *cells)]), tmp_path / "tiny.ipynb")
        return Chapter("tiny", tmp_path)

    return make


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (['check.equation("x", F, [m * a, m * b])'], ""),
        (["printed = [m * a, m * b]", 'check.equation("x", F, printed)'], ""),
        (["printed = [m * a]", "printed += [m * b]", 'check.equation("x", F, printed)'], ""),
        (["values = np.zeros(2)", "values[1] = 2.5 + 1", 'check.equation("x", [0.0, 3.5], values)'], ""),
        (["def typed(a):\n    return m * a", 'check.equation("x", F, [typed(a), typed(b)])'], ""),
        (["value = 2.0 + 1", 'check.erratum("E1", 3.0, corrected=value, printed=4.0)'], ""),
        (['check.equation("x", [*F, 0], [m * a, m * b, 0 * m])'], "x"),
        (["value = 2.0 + 1", 'check.equation("x", abs(3.0), abs(-value))'], "x"),
        (["printed = F[0] * (a + b)", 'check.equation("x", F[0] * (a + b), printed)'], ""),
        (['for i in (0, 1):\n    typed = m * (a, b)[i] + 0 * a\n    check.equation("x", F[i], typed)'], "x"),
        (["shared = a + b", 'check.equation("x", m * shared, m * shared)'], ""),
    ],
)
def test_a_change_that_no_check_notices_is_found(tiny, cells, numbers):
    found = unnoticed(tiny(*cells))
    assert bool(found) == bool(numbers)
    assert all(f"({numbers})" in each for each in found)


def test_a_function_sees_what_is_set_after_it(tiny):
    chapter = tiny("def typed(x):\n    return [x * a, x * c]", "c = b + 0 * a", 'check.equation("x", F, typed(m))')
    assert chapter.run(chapter.checks[0]) == ALIVE
    assert unnoticed(chapter)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAPTERS)
def test_every_check_holds_by_itself(name):
    """Without this, what seems to be noticed might only not run."""
    assert {str(check): CHAPTER[name].run(check) for check in CHAPTER[name].checks} == {
        str(check): ALIVE for check in CHAPTER[name].checks
    }


def test_a_chapter_is_the_same_after_changes_were_tried(tiny):
    chapter = tiny("values = np.zeros(2)", "values[0] += 1", 'check.equation("x", values, [1.0, 0.0])')
    assert unnoticed(chapter) == []
    assert chapter.run(chapter.checks[0]) == ALIVE


def test_a_broken_step_is_noticed_only_where_it_is_called(tiny):
    calls = tiny('check.equation("x", F, [m * a, m * b])')
    copies = tiny('check.equation("x", force(lambda m, a: a * m), [m * a, m * b])')
    with broken(newton_euler.resultant_force, lambda m, a: a):
        assert calls.run(calls.checks[0]) == KILLED
        assert copies.run(copies.checks[0]) == ALIVE
    assert calls.run(calls.checks[0]) == ALIVE


def test_steps_are_broken_in_every_term():
    found = {what.partition("  ->  ")[2] for what, _ in broken_functions(newton_euler.resultant_moment)}
    assert {"apply(I, domega)", "cross(omega, apply(I, omega))", "cross(apply(I, omega), omega)", "omega"} <= found


def test_an_equation_that_no_chapter_types_says_so():
    checks = [check for chapter in CHAPTER.values() for check in chapter.checks if not check.is_erratum]
    typed = {check.number for check in checks if check.holds_a_formula}
    said = {each.number for each in appendices.load_registry().equations if not each.typed}
    assert {check.number for check in checks} - typed <= said, "set typed = false in book/registry/equations.toml"


# ---- The steps of the library ------------------------------------------------------------------------

MODULES = (velocity, acceleration, newton_euler, lagrange, velocities, dynamics, three_legs)
STEPS = {
    step.__name__: step
    for module in MODULES
    for step in (getattr(module.Steps(), each.name) for each in fields(module.Steps))
    if isinstance(step, Equation)
}


def numbers_of(source: str | None) -> list[str]:
    """Return the numbers that a source names: "A5.2.6-5, -6" are two.

    >>> numbers_of("A5.2.6-5, -6"), numbers_of("E7")
    (['A5.2.6-5', 'A5.2.6-6'], ['E7'])
    """
    found: list[str] = []
    for part in (source or "").split(", "):
        found += [found[-1].rpartition("-")[0] + part if part.startswith("-") else part] if part else []
    return found


def checks_of(step: Equation) -> list[Check]:
    """Return the checks of the numbers that a step names; what a load adds to it is E12."""
    loaded = ["E12"] if step.loaded else []
    numbers = {*numbers_of(step.source), *numbers_of(step.prismatic_source), *loaded}
    return [check for chapter in CHAPTER.values() for check in chapter.checks if check.number in numbers]


@contextmanager
def broken(step: Equation, function: Callable) -> Iterator[None]:
    """Put another function into a step of the library for a while."""
    right = step.function
    object.__setattr__(step, "function", function)
    forget()
    try:
        yield
    finally:
        object.__setattr__(step, "function", right)
        forget()


def forget() -> None:
    """Empty the library's caches, which hold what was derived with the step as it was."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dynlib"):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


def broken_functions(step: Equation) -> Iterator[tuple[str, Callable]]:
    """Yield versions of a step with one small change in what it computes."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(step.function))).body[0]
    definition.decorator_list = []
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    for what, code in changes(definition):
        names = {}
        module = ast.fix_missing_locations(ast.Module([code], []))
        exec(compile(module, "<step>", "exec"), step.function.__globals__, names)  # the library's own code
        yield what, names[definition.name]


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_the_library_cannot_be_changed_unseen(name):
    step, unseen = STEPS[name], []
    for what, function in broken_functions(step):
        with broken(step, function):
            results = set()
            for check in checks_of(step):
                results.add(check.chapter.run(check))
                if KILLED in results:
                    break
        if results == {ALIVE}:  # a step that makes a cell stop, by the shape of what it gives, is not unseen either
            unseen.append(what)
    assert unseen == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_every_number_of_a_step_fails_when_its_value_is_wrong(name):
    step, unseen = STEPS[name], []

    def wrong(*arguments):
        right = step_function(*arguments)
        return right + right + 1 if isinstance(right, np.ndarray) else right + right

    step_function = step.function
    with broken(step, wrong):
        for number in sorted({check.number for check in checks_of(step)}):
            results = {check.chapter.run(check) for check in checks_of(step) if check.number == number}
            if KILLED not in results:
                unseen.append(number)
    assert unseen == []


# ---- The energies of document B ----------------------------------------------------------------------


def printed_leg_energy(I1, I2, m2, dfirst, dsecond, v2):
    """Kinetic energy of a leg as the document prints it (E22)."""
    return I1 * dfirst**2 / 2 + I2 * (dfirst**2 + dsecond**2) / 2 + m2 * v2 / 2


def printed_mass_centre(i, O, l, r, first, second):
    """Mass centre of link i2 as the document prints it (E23, E24, E35)."""
    of_y = 0 if i == 1 else i
    x = l[i] * sympy.cos(first[i]) + r[i] * sympy.cos(second[i])
    return np.array([x, l[of_y] * sympy.sin(first[of_y]) + r[i] * sympy.sin(second[i])])


def printed_end_energy(m, I, v2, dpsi):
    """Kinetic energy of the rod from C to P as the document prints it (E27)."""
    return m * v2 / 2


TORQUES = ["B3.12", "B3.13", "B3.12c", "E29"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "printed", "numbers"),
    [
        ("leg_energy", printed_leg_energy, ["B3.1c", "B3.1", "B3.4", "B3.7", "E22", "E25", "E26", *TORQUES]),
        ("mass_centre", printed_mass_centre, ["B3.3c", "B3.3", "B3.6", "B3.9", "E23", "E24", "E27b", "E35", *TORQUES]),
        ("end_energy", printed_end_energy, ["B3.10c", "B3.10", "E27", *TORQUES]),
    ],
)
def test_the_energies_of_the_document_cannot_take_the_place_of_the_right_ones(step, printed, numbers):
    with broken(STEPS[step], printed):
        assert CHAPTER["closed_chains_dynamics"].failing() >= set(numbers)
