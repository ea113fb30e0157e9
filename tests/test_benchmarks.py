"""The benchmarks run and compare equal results; how long they take is no matter of a test."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

from benchmarks import recursion


@pytest.mark.parametrize("states", [1, 5])
def test_recursion_runs_and_results_agree(states):
    found = recursion.compare(states, rounds=1)
    assert found.states == states


def test_recursion_stops_if_results_differ(monkeypatch):
    right = recursion.by_dynlib
    monkeypatch.setattr(recursion, "by_dynlib", lambda *motion: right(*motion) * (1 + 1e-9))
    with pytest.raises(AssertionError, match="the torques differ by 1.0e-09 of the largest"):
        recursion.compare(3, rounds=1)


def test_states_are_the_same_on_every_run_and_move_every_joint():
    first, second = recursion.random_states(4, 6), recursion.random_states(4, 6)
    assert all((a == b).all() for a, b in zip(first, second, strict=True))
    assert all(np.abs(each).min() > 0 for each in first)


def test_command_prints_the_table_that_the_readme_shows(capsys):
    recursion.main(["--states", "1", "2", "--rounds", "1"])
    head, rule, *rows = capsys.readouterr().out.splitlines()
    text = (Path(recursion.__file__).parent / "README.md").read_text(encoding="utf-8")
    assert f"{head}\n{rule}\n" in text
    assert [row.split()[1] for row in rows[:2]] == ["1", "2"]
    assert re.search(r"Python \d+\.\d+.*numpy \d.*pin \d", rows[-1])
