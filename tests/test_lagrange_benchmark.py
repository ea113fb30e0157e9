"""The benchmark of the closed form runs and compares equal results; how long it takes is no matter of a test."""

import re
from pathlib import Path

import pytest

from benchmarks import lagrange


def test_it_runs_and_the_results_agree():
    found = lagrange.compare(rounds=1)
    assert [each.part for each in found] == ["closed form", "model and closed form"]
    assert all(each.dynlib > 0 and each.sympy > 0 for each in found)


def test_it_stops_if_the_results_differ(monkeypatch):
    right = lagrange.by_dynlib
    monkeypatch.setattr(lagrange, "by_dynlib", lambda arm: [2 * tau for tau in right(arm)])
    with pytest.raises(AssertionError, match="the closed forms differ: entry"):
        lagrange.compare(rounds=1)


def test_command_prints_the_table_that_the_readme_shows(capsys):
    lagrange.main(["--rounds", "1"])
    head, rule, *rows = capsys.readouterr().out.splitlines()
    text = (Path(lagrange.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert f"{head}\n{rule}\n" in text
    assert rows[0].startswith("| closed form |")
    assert re.search(r"Python \d+\.\d+.*sympy \d", rows[-1])
