"""Every numbered check notices when the formula typed in it, or the step of the library under it, is wrong."""

import ast
import functools
import gc
import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields

import numpy as np
import pytest
from cells import ALIVE, KILLED, Chapter, Check, changes, replaced

from dynlib import acceleration, closed_chain, closed_dynamics, lagrange, newton_euler, three_legs, velocity
from dynlib.equation import Equation
from tools import appendices

CHAPTERS = sorted({each.link.partition(".ipynb")[0] for each in appendices.find_checks()})
CHAPTER = {name: Chapter(name) for name in CHAPTERS}
NO_FORMULA = {  # cells in which the typed side of a check is not a formula but data, and why they may change unseen
    "lagrange-11": "E14 counts by a rank, which is the same for other arms",
    "velocity-18": "the state of E3: the first angle does not change the velocity in the axes of link 2",
}


def typed_changes(chapter: Chapter) -> Iterator[tuple[int, str, object, list[Check]]]:
    """Yield each small change of a typed formula: its place, what changes, the code, and the checks that use it."""
    users: dict[int, list[Check]] = {}
    for check in chapter.checks:
        for place in check.typed_places():
            users.setdefault(place, []).append(check)
        if check.typed is not None:
            for what, code in changes(check.typed):
                yield check.place, what, replaced(chapter.statements[check.place].code, check.typed, code), [check]
    for place, checks in users.items():
        if chapter.statements[place].cell not in NO_FORMULA:
            for what, code in changes(chapter.statements[place].code):
                yield place, what, code, checks


def unnoticed(chapter: Chapter) -> list[str]:
    """Return the changes of typed formulas that no check notices."""
    found = []
    for place, what, code, checks in typed_changes(chapter):
        results = set()
        for check in checks:
            results.add(check.chapter.run_changed(check, place, code))
            if KILLED in results:
                break
        if ALIVE in results and KILLED not in results:
            numbers = ", ".join(dict.fromkeys(each.number for each in checks))
            found.append(f"{chapter.statements[place].cell}: {what} ({numbers})")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_typed_formula_cannot_be_changed_unseen(name):
    assert unnoticed(CHAPTER[name]) == []


# ---- The steps of the library ------------------------------------------------------------------------

MODULES = (velocity, acceleration, newton_euler, lagrange, closed_chain, closed_dynamics, three_legs)
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
    numbers = {*numbers_of(step.source), *numbers_of(step.prismatic_source)}
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
    for cache in (each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)):
        if cache.__module__.startswith("dynlib"):
            cache.cache_clear()


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
        if ALIVE in results and KILLED not in results:
            unseen.append(what)
    assert unseen == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_every_number_of_a_step_fails_when_its_value_is_wrong(name):
    step, unseen = STEPS[name], []

    def wrong(*arguments):
        right = step_function(*arguments)
        return right * 2 + 1 if isinstance(right, np.ndarray) else right * 2

    step_function = step.function
    with broken(step, wrong):
        for number in sorted({check.number for check in checks_of(step)}):
            results = {check.chapter.run(check) for check in checks_of(step) if check.number == number}
            if KILLED not in results:
                unseen.append(number)
    assert unseen == []
