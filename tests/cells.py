"""The code of the chapters, statement by statement: what a check needs, and what happens when one thing is changed.

A chapter is run once, in this process. From then on only those statements run again that stand between a change and
the check that must notice it.
"""

import ast
import copy
import os
import symtable
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib
import nbformat
import numpy as np
from IPython.core.inputtransformer2 import TransformerManager

from tools.appendices import BOOK, name_of_check

KILLED, ALIVE, UNFIT = "noticed", "not noticed", "does not run"


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a cell: the names that it reads and those that it sets or changes."""

    cell: str
    code: ast.stmt = field(repr=False)
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True)
class Check:
    """A call of ``check.equation`` or ``check.erratum``, and the place of the statement that makes it."""

    chapter: "Chapter" = field(repr=False)
    place: int
    call: ast.Call = field(repr=False)

    @property
    def number(self) -> str:
        return self.call.args[0].value

    @property
    def is_erratum(self) -> bool:
        return name_of_check(self.call) == "erratum"

    def side(self, name: str) -> ast.expr | None:
        """Return the argument ``computed``, ``printed`` or ``corrected``; None if it is left out."""
        places = ["number", "computed", *(["corrected", "printed"] if self.is_erratum else ["printed"])]
        given = dict(zip(places, self.call.args, strict=False)) | {each.arg: each.value for each in self.call.keywords}
        if any(isinstance(each, ast.Starred) for each in self.call.args):
            return None
        return given.get(name)

    @property
    def typed(self) -> ast.expr | None:
        """Return the argument that holds what the document says, or what follows from its correction."""
        return self.side("corrected" if self.is_erratum else "printed")

    def typed_places(self) -> list[int]:
        """Return the places of the earlier statements that only the typed side needs: the formulas typed before."""
        if (typed := self.typed) is None:
            return []
        other = frozenset().union(*(_read(each) for each in _others(self.call, typed)))
        sides = (self.chapter.needed(self.place, _read(typed)), self.chapter.needed(self.place, other))
        return sorted(sides[0] - sides[1])

    def typed_here(self) -> list[ast.expr]:
        """Return what is typed in the check's own statement: its argument, and what a loop around it sets for that."""
        if self.typed is None:
            return []
        others = frozenset().union(*(_read(each) for each in _others(self.call, self.typed)))
        inside = [each for each in ast.walk(self.chapter.statements[self.place].code) if isinstance(each, ast.Assign)]
        wanted = _read(self.typed) - others
        return [self.typed, *(each.value for each in inside if wanted & _names(each)[1])]

    @property
    def holds_a_formula(self) -> bool:
        """True if something is typed out on the typed side: an operation, or a vector with numbers in it."""
        codes = [*self.typed_here(), *(self.chapter.statements[place].code for place in self.typed_places())]
        return any(_is_formula(node) for code in codes for node in _parts_of(code))

    def __str__(self) -> str:
        return f"{self.number} in {self.chapter.name}, {self.chapter.statements[self.place].cell}"


class Chapter:
    """A notebook, read as one program."""

    def __init__(self, name: str, book: Path = BOOK) -> None:
        self.name = name
        self.statements = list(_statements(book / f"{name}.ipynb"))
        self.checks = [
            Check(self, place, node)
            for place, statement in enumerate(self.statements)
            for node in ast.walk(statement.code)
            if isinstance(node, ast.Call) and name_of_check(node)
        ]

    def needed(self, place: int, names: frozenset[str] | None = None) -> set[int]:
        """Return the places of the statements that a statement needs, or that set the names given before it."""
        wanted = set(self.statements[place].reads if names is None else names)
        while True:
            found = self._before(place, wanted)
            functions = [
                self.statements[each] for each in found if isinstance(self.statements[each].code, ast.FunctionDef)
            ]
            late = set().union(
                *(each.reads for each in functions)
            )  # read when a function is called, not where it is made
            if late <= wanted:
                return found
            wanted |= late

    def _before(self, place: int, names: set[str]) -> set[int]:
        wanted, found = set(names), set()
        for before in range(place - 1, -1, -1):
            statement = self.statements[before]
            if wanted & statement.writes:
                found.add(before)
                if not _only_adds(statement.code):
                    wanted -= {name for name in statement.writes if name not in statement.reads}
                wanted |= statement.reads
        return found

    def run(self, check: Check) -> str:
        """Run a check and all that it needs from the start; say whether it noticed anything."""
        names: dict[str, Any] = {"__name__": "__main__"}
        with _quiet():
            for place in [*sorted(self.needed(check.place)), check.place]:
                try:
                    _execute(self.statements[place].code, names)
                except Exception as error:
                    return KILLED if _complains(error, check.number) else UNFIT
        return ALIVE

    def failing(self) -> set[str]:
        """Run once all that the checks need, whatever fails, and return the numbers that notice something."""
        needed = set().union(*(self.needed(check.place) | {check.place} for check in self.checks))
        names: dict[str, Any] = {"__name__": "__main__"}
        found = set()
        with _quiet():
            for place in sorted(needed):
                try:
                    _execute(self.statements[place].code, names)
                except AssertionError as error:
                    here = [check.number for check in self.checks if check.place == place]
                    found |= {number for number in here if _complains(error, number)}
        return found

    @cached_property
    def states(self) -> dict[int, dict[str, Any]]:
        """The names before each statement that some check needs, from one run of all of them."""
        wanted = set().union(*(self.needed(check.place) | {check.place} for check in self.checks))
        names: dict[str, Any] = {"__name__": "__main__"}
        states = {}
        with _quiet():
            for place in sorted(wanted):
                statement = self.statements[place]
                states[place] = dict(names)
                for name in statement.writes & statement.reads & names.keys():  # it may change what stands there
                    states[place][name] = _copied(names[name])
                _execute(statement.code, names)
            states[len(self.statements)] = dict(names)
        return states

    def run_changed(self, check: Check, place: int, changed: ast.stmt) -> str:
        """Run a check again with one statement changed; say whether the check noticed it."""
        names = dict(self.states[place])
        for name in self.statements[place].writes & self.statements[place].reads & names.keys():
            names[name] = _copied(names[name])
        order = sorted(each for each in self.needed(check.place) | {check.place} if each >= place)
        other = set()  # names with another value than in the chapter
        with _quiet():
            for here in order:
                statement = self.statements[here]
                if here != place and not (other & (statement.reads | statement.writes)):
                    later = min(each for each in self.states if each > here)
                    names |= {name: self.states[later][name] for name in statement.writes if name in self.states[later]}
                    continue
                try:
                    _execute(changed if here == place else statement.code, names)
                except Exception as error:
                    return KILLED if _complains(error, check.number) else UNFIT
                other |= statement.writes
        return ALIVE


def _read(code: ast.AST) -> frozenset[str]:
    return frozenset(_global_names(symtable.symtable(ast.unparse(code), "<chapter>", "exec")))


def _parts_of(code: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a piece of code, without indices."""
    yield code
    for name, value in ast.iter_fields(code):
        if not (isinstance(code, ast.Subscript) and name == "slice"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _parts_of(child)


def _is_formula(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=left, op=op):
            return not isinstance(op, ast.MatMult) and not isinstance(left, ast.List)  # [printed] * 2 is none
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            return any(isinstance(entry, ast.Constant) for entry in entries)
    return False


def _others(call: ast.Call, typed: ast.expr) -> list[ast.expr]:
    return [each for each in [*call.args, *(keyword.value for keyword in call.keywords)] if each is not typed]


def _complains(error: Exception, number: str) -> bool:
    return isinstance(error, AssertionError) and str(error).startswith((f"{number} does not hold", f"{number}: "))


def _copied(value: Any) -> Any:
    return copy.deepcopy(value) if isinstance(value, np.ndarray | np.random.Generator | list | dict | set) else value


def _execute(code: ast.stmt, names: dict[str, Any]) -> None:
    module = ast.fix_missing_locations(ast.Module([code], []))
    exec(compile(module, "<chapter>", "exec"), names)  # the book's own cells


@contextmanager
def _quiet(folder: Path = BOOK) -> Iterator[None]:
    """Run cells as their kernel does: in the folder of the book, without showing anything."""
    here, backend = os.getcwd(), matplotlib.get_backend()
    os.chdir(folder)
    matplotlib.use("agg")
    try:
        with warnings.catch_warnings(), open(os.devnull, "w", encoding="utf-8") as nowhere:
            warnings.simplefilter("ignore")
            with redirect_stdout(nowhere):
                yield
    finally:
        os.chdir(here)
        matplotlib.use(backend)


def _statements(path: Path) -> Iterator[Statement]:
    stateful: set[str] = set()
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        whole = ast.parse(TransformerManager().transform_cell(cell.source)).body
        for code in (_Plain().visit(part) for each in whole for part in _parts(each)):
            reads, writes = _names(code)
            if "default_rng" in ast.unparse(code):
                stateful |= writes
            yield Statement(cell.id, code, frozenset(reads), frozenset(writes | (stateful & reads)))


def _parts(code: ast.stmt) -> list[ast.stmt]:
    """Split ``a, b = x, y`` into two statements where that is the same."""
    match code:
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
            reads = {node.id for value in values for node in ast.walk(value) if isinstance(node, ast.Name)}
            if all(isinstance(name, ast.Name) and name.id not in reads for name in names):
                return [ast.Assign([name], value, lineno=0) for name, value in zip(names, values, strict=True)]
    return [code]


class _Plain(ast.NodeTransformer):
    """Write ``x += e`` as ``x = x + e``, so that no statement changes an array that an earlier one has made."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return node
        old = ast.Name(node.target.id, ast.Load())
        return ast.copy_location(ast.Assign([node.target], ast.BinOp(old, node.op, node.value)), node)


def _names(code: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement reads, and those that it sets or whose value it may change."""
    table = symtable.symtable(ast.unparse(code), "<chapter>", "exec")
    reads = _global_names(table)
    writes = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
    for node in ast.walk(code):
        match node:
            case ast.Subscript(value=base, ctx=ast.Store()) | ast.Attribute(value=base, ctx=ast.Store()):
                writes |= {each.id for each in ast.walk(base) if isinstance(each, ast.Name)} & reads
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))) if name != "check":
                writes.add(name)
    return reads - _loop_names(code), writes


def _global_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that a piece of code takes from the cells before it; those of its functions' own are not."""
    inside = table.get_type() != "module"
    own = {each.get_name() for each in table.get_symbols() if each.is_referenced() and (not inside or each.is_global())}
    return own.union(*map(_global_names, table.get_children()))


def _loop_names(code: ast.stmt) -> set[str]:
    """Return the names that a loop sets for itself before it reads them (a loop is taken to run at least once)."""
    if not isinstance(code, ast.For):
        return set()
    return {node.id for node in ast.walk(code.target) if isinstance(node, ast.Name)} - _read(code.iter)


def _only_adds(code: ast.stmt) -> bool:
    """Say whether a statement may leave a name as it was: under a condition or in a loop."""
    return isinstance(code, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Expr)


# ---- Changes -----------------------------------------------------------------------------------------

Change = tuple[str, ast.AST]
_SKIPPED_CALLS = {"zeros", "eye", "ones", "range", "linspace", "symbols", "Symbol", "default_rng", "reshape", "round"}
_TWINS = {"sin": "cos", "cos": "sin"}


def changes(root: ast.AST, inside: Callable[[ast.AST], bool] = lambda node: True) -> Iterator[Change]:
    """Yield copies of a piece of code, each with one small change in what it computes, and what the change is."""
    for path in _paths(root):
        node = _at(root, path)
        if inside(node):
            for new in _replacements(node):
                changed = copy.deepcopy(root)
                was, now = ast.unparse(node), ast.unparse(new)
                if not path:
                    yield f"{was}  ->  {now}", copy.deepcopy(new)
                    continue
                _put(changed, path, copy.deepcopy(new))
                yield f"{was}  ->  {now}", changed


Way = tuple[tuple[str, int | None], ...]


def _paths(node: ast.AST, before: Way = ()) -> Iterator[Way]:
    """Yield the way to each part of a piece of code that computes something."""
    yield before
    for name, value in ast.iter_fields(node):
        if isinstance(node, ast.Subscript) and name == "slice":
            continue
        if isinstance(node, ast.Call) and (name == "keywords" or _called(node) in _SKIPPED_CALLS):
            continue
        if isinstance(node, ast.FunctionDef) and name != "body":
            continue
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if isinstance(child, ast.AST) and not isinstance(child, ast.expr_context | ast.operator | ast.unaryop):
                yield from _paths(child, (*before, (name, place if isinstance(value, list) else None)))


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _at(node: Any, path: Way) -> Any:
    for name, place in path:
        node = getattr(node, name) if place is None else getattr(node, name)[place]
    return node


def _put(node: Any, path: Way, new: ast.AST) -> None:
    *way, (name, place) = path
    parent = _at(node, tuple(way))
    if place is None:
        setattr(parent, name, new)
    else:
        getattr(parent, name)[place] = new


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can stand in the place of a part: another sign, a term less, sine for cosine, another number."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            yield ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
            yield left
            yield right if isinstance(op, ast.Add) else ast.UnaryOp(ast.USub(), right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            yield left
            yield right
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Name("apply"), args=[_, vector]):
            yield vector
        case ast.Call(args=[a, b, *rest], keywords=keywords) if ast.dump(a) != ast.dump(b) and _called(node) != "dot":
            yield ast.Call(node.func, [b, a, *rest], keywords)
        case ast.Call(func=ast.Name("transpose"), args=[matrix]):
            yield matrix
        case ast.Attribute(value=value, attr="T", ctx=ast.Load()):
            yield value
        case ast.Attribute(value=value, attr="sin" | "cos" as name):
            yield ast.Attribute(value, _TWINS[name], ast.Load())
        case ast.Name(id=name, ctx=ast.Load()) if len(name) > 1 and name[0] in "sc" and name[1:].isdigit():
            yield ast.Name(("c" if name[0] == "s" else "s") + name[1:], ast.Load())
        case ast.Name(id=name, ctx=ast.Load()) if name[-1] in "12" and name[:-1].isidentifier():
            yield ast.Name(name[:-1] + "21"[int(name[-1]) - 1], ast.Load())
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            yield right


def replaced(code: ast.stmt, part: ast.AST, new: ast.AST) -> ast.stmt:
    """Return a copy of a statement with one of its parts replaced."""
    path = next(path for path in _every_path(code) if _at(code, path) is part)
    changed = copy.deepcopy(code)
    _put(changed, path, copy.deepcopy(new))
    return changed


def _every_path(node: ast.AST, before: Way = ()) -> Iterator[Way]:
    yield before
    for name, value in ast.iter_fields(node):
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                yield from _every_path(child, (*before, (name, place if isinstance(value, list) else None)))


def errors_of(notebook: Any, folder: Path) -> list[str]:
    """Run a chapter from the top, in a folder, as its reader does; return the cells that fail, with their errors."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    with _quiet(folder):
        for cell in notebook.cells:
            if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
                continue
            try:
                exec(compile(TransformerManager().transform_cell(cell.source), cell.id, "exec"), names)
            except Exception as error:
                found.append(f"{cell.id}: {type(error).__name__}: {error}")
    return found
