"""The benchmark of the closed chain runs and compares equal results; how long they take is no matter of a test."""

import re
from pathlib import Path

import numpy as np
import pytest
import sympy

pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")

from benchmarks import closed_chain as benchmark
from dynlib.motion import simulate
from dynlib.motion.closed_equations import equations_of


def test_accelerations_agree():
    found = benchmark.compare_calls(calls=5, rounds=1)
    assert [each.name for each in found[:3]] == ["dynlib", "Pinocchio", "SymPy, solved by NumPy"]
    assert all(each.difference < 1e-12 for each in found[:3])
    assert all(each.seconds > 0 for each in found)


def test_it_stops_if_accelerations_differ(monkeypatch):
    right = benchmark.by_pinocchio
    monkeypatch.setattr(benchmark, "by_pinocchio", lambda bars: lambda *state: right(bars)(*state) * (1 + 1e-8))
    with pytest.raises(AssertionError, match="Pinocchio: the accelerations differ by 1.0e-08 of the largest"):
        benchmark.compare_calls(calls=2, rounds=1)


def test_corrections_of_gaps_agree():
    bars = benchmark.arm()
    q, dq, tau = (each[0] for each in benchmark.random_states(bars, 1))
    q[1], q[3], dq[1] = q[1] + 1e-3, q[3] + 2e-3, dq[1] + 0.01
    ours = equations_of(bars, baumgarte=20.0).accelerate(q.tolist(), dq.tolist(), tau.tolist())[0]
    np.testing.assert_allclose(benchmark.by_pinocchio(bars, 20.0)(q, dq, tau), ours, rtol=1e-9)
    assert np.abs(benchmark.by_pinocchio(bars)(q, dq, tau) - ours).max() > 0.1


def test_multipliers_of_sympy_have_two_signs():
    bars = benchmark.arm()
    method, arguments = benchmark.sympy_method(bars)
    state = [each[0] for each in benchmark.random_states(bars, 1)]
    _, lam, *_ = equations_of(bars).accelerate(*(each.tolist() for each in state))
    values = dict(zip(arguments, np.concatenate(state).tolist(), strict=True))
    M, right = (np.array(each.subs(values), dtype=float) for each in (method.mass_matrix_full, method.forcing_full))
    np.testing.assert_allclose(np.linalg.solve(M, right)[8:, 0], lam, rtol=1e-9)
    solved = method.solve_multipliers(values, sol_type="Matrix")
    np.testing.assert_allclose(np.array(solved, dtype=float)[:, 0], [-each for each in lam], rtol=1e-9)
    closure = method.form_lagranges_equations().jacobian(sympy.Matrix(method.lam_vec))
    assert (closure + method.mass_matrix[:, 4:]).is_zero_matrix


def test_motions_agree_and_only_projection_keeps_the_loop_closed():
    found = {each.name: each for each in benchmark.compare_motions(seconds=0.2, rounds=1)}
    assert list(found)[:2] == ["dynlib", "dynlib, 1 ms"]
    assert max(found["dynlib"].gap, found["dynlib, 1 ms"].gap) < 1e-14
    assert all(each.error < 1e-6 and each.gap < 1e-6 for each in found.values())


def test_it_stops_if_a_motion_differs(monkeypatch):
    monkeypatch.setattr(benchmark, "stepped", lambda bars, t, way: (np.ones((len(t), 4)), np.ones((len(t), 4))))
    with pytest.raises(AssertionError, match="Pinocchio, 1 ms, Baumgarte: the motion differs"):
        benchmark.compare_motions(0.02, 1)


def test_the_error_of_the_energy_falls_with_the_fourth_power_of_the_step():
    bars, t = benchmark.arm(), np.linspace(0, 2, 201)
    errors = []
    for dt in (0.002, 0.001):
        motion = simulate(bars, *benchmark.start(bars), t, dt=dt)
        assert np.abs(motion.ddq).max() < 220
        errors.append(benchmark.gap_and_error(bars, (motion.q, motion.dq))[1])
    assert 12 < errors[0] / errors[1] < 40


def test_the_push_is_too_weak_to_lift_the_arm_to_its_motors():
    bars = benchmark.arm()
    motion = simulate(bars, *benchmark.start(bars), [0])
    assert motion.energy[0] < -4  # J; all links at the level of the motors have 0


def test_command_prints_the_tables_that_the_readme_shows(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "installed", lambda name: None)
    benchmark.main(["--calls", "2", "--seconds", "0.02", "--rounds", "1"])
    calls, motions, packages = capsys.readouterr().out.split("\n\n")
    text = (Path(benchmark.__file__).parent / "README.md").read_text(encoding="utf-8")
    for printed in (calls, motions):
        head, rule, *rows = printed.splitlines()
        assert f"{head}\n{rule}\n" in text
        assert all(f"\n{row.split(' | ')[0]} |" in text for row in rows)
        assert rows[0].startswith("| dynlib |")
    assert re.search(r"Python \d+\.\d+.*numpy \d.*sympy \d.*pin \d", packages)
    assert "mujoco" not in packages
