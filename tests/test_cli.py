"""The command: what it prints is what the library computes, and every mistake is answered in a sentence."""

import inspect
import os
import re
import subprocess
import sys
import tomllib
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

from dynlib import __main__ as start
from dynlib import cli, newton_euler, robots, velocity
from dynlib.derivation import document
from dynlib.robotfile import toml, urdf
from tools.files import ROOT

NUMBERS = ["L1=0.8", "L2=0.6", "m1=3", "m2=2", "g=9.81"]
ARM = robots.planar_2r(L1=0.8, L2=0.6, m1=3, m2=2, g=9.81)


def run(*words, code=0):
    """Run the command; return what it prints and what it says beside it, as one line each."""
    done = CliRunner().invoke(cli.app, list(map(str, words)), env={"COLUMNS": "500", "TERM": "dumb"})
    assert done.exit_code == code, done.output
    return done.stdout, " ".join(done.stderr.split())


def with_numbers(*words):
    return [*words, *(word for value in NUMBERS for word in ("--set", value))]


def test_show_prints_the_robot():
    assert run("show", "planar_2r")[0] == f"{robots.load('planar_2r')}\n"


def test_torques_are_those_of_the_recursion():
    words = with_numbers("torques", "planar_2r", "--q", "0.3,-30deg", "--dq", "1 -2", "--ddq", "0.5,pi/2")
    shown = [float(line.split()[2]) for line in run(*words)[0].splitlines()]
    wanted = newton_euler.inverse_dynamics(ARM, [0.3, -np.pi / 6], [1, -2], [0.5, np.pi / 2])
    assert shown == pytest.approx(wanted.tolist(), rel=1e-9)


def test_rates_are_zero_if_they_are_left_out():
    shown = run(*with_numbers("torques", "planar_2r", "--q", "0,0"))[0]
    assert shown == "τ₁ = 51.012 N m\nτ₂ = 11.772 N m\n"  # 9.81 * (3 * 0.8 + 2 * (0.8 + 0.6)) and 9.81 * 2 * 0.6


def test_a_load_at_the_tip_does_the_work_of_the_tip():
    words = ["torques", "rrp", "--q", "0.3,-0.5,0.4"]
    words += [word for symbol in robots.load("rrp").symbols for word in ("--set", f"{symbol}=1.5")]
    load = ["--tip-force", "1,-2.5,3", "--tip-moment", "0.5,0,-0.25"]
    free, held = ([float(line.split()[2]) for line in run(*words, *more)[0].splitlines()] for more in ([], load))
    arm = robots.load("rrp").subs(dict.fromkeys(robots.load("rrp").symbols, 1.5))
    J = velocity.jacobian(arm, [0.3, -0.5, 0.4], axes="link")
    assert np.subtract(held, free) == pytest.approx(-J.T @ [1, -2.5, 3, 0.5, 0, -0.25], rel=1e-8, abs=1e-8)


def test_a_load_at_the_tip_beside_symbols_is_exact():
    bare, loaded = (run("torques", "rp", *more)[0].splitlines() for more in ([], ["--tip-force", "0,0,1/3"]))
    assert bare != loaded
    assert any("1/3" in line for line in loaded)
    assert any("- 0.5 " in line for line in run("torques", "rp", "--tip-force", "0,0,0.5")[0].splitlines())
    assert r"\frac{1}{3}" in run("derive", "rp", "--tip-force", "0,0,1/3")[0]


def test_torques_without_a_state_are_symbols():
    shown, _ = run("torques", "rp")
    assert "θ̈₁" in shown
    assert "d̈₂" in shown


def test_forces_of_sliding_joints_are_in_newtons():
    words = ["torques", "rp", "--q", "0,1"]
    values = {str(symbol): 1 for symbol in robots.load("rp").symbols}
    words += [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    assert [line.split(maxsplit=3)[3] for line in run(*words)[0].splitlines()] == ["N m", "N"]


@pytest.mark.parametrize(("ending", "to"), [("md", "markdown"), ("tex", "latex"), ("html", "html")])
def test_derive_writes_what_the_library_renders(ending, to, tmp_path):
    path = tmp_path / f"arm.{ending}"
    _, said = run("derive", "planar_2r", "-o", path)
    assert said == f"{path} is written."
    text = document.render(robots.load("planar_2r"), to)
    assert path.read_text(encoding="utf-8") == text
    assert run("derive", "planar_2r", "--to", ending)[0] == text


def test_derive_of_a_state_and_with_names(tmp_path):
    words = with_numbers("derive", "planar_2r", "--q", "0.1,0.2")
    assert run(*words)[0] == document.render(
        robots.load("planar_2r").subs({name: float(value) for name, value in (v.split("=") for v in NUMBERS)}),
        "markdown",
        [0.1, 0.2],
        [0, 0],
        [0, 0],
    )
    assert run("derive", "planar_2r", "--named")[0] == document.render(robots.load("planar_2r"), named=True)


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "my arm.toml"
    path.write_text(toml.EXAMPLE, encoding="utf-8")
    wanted = newton_euler.inverse_dynamics(toml.read(path), [0, 0], [0, 0], [0, 0])
    shown = [float(line.split()[2]) for line in run("torques", path, "--q", "0,0")[0].splitlines()]
    assert shown == pytest.approx(wanted.tolist(), rel=1e-9)


def test_a_urdf_needs_gravity(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(urdf.EXAMPLE, encoding="utf-8")
    assert "a URDF says nothing of gravity" in run("show", path, code=2)[1]
    assert "only a URDF needs it" in run("show", "rp", "--gravity", "0,0,1", code=2)[1]
    wanted = newton_euler.inverse_dynamics(urdf.read(path, gravity=[0, 0, -9.81]), [0], [0], [0])
    shown = run("torques", path, "--gravity", "0,0,-9.81", "--q", "0")[0]
    assert float(shown.split()[2]) == pytest.approx(wanted[0])


# ---- Options of a URDF ----------------------------------------------------------------------------------

HANDED = urdf.EXAMPLE.replace(
    "</robot>",
    """<link name="tool0"/><joint name="to_tool" type="fixed"><parent link="rod"/><child link="tool0"/></joint>
  <link name="finger"><inertial><origin xyz="0 0 0.2"/><mass value="0.5"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="grip" type="revolute"><parent link="rod"/><child link="finger"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
</robot>""",
)
DOWN = ["--gravity", "0,0,-9.81"]


@pytest.fixture
def handed(tmp_path, monkeypatch):
    """The folder with an arm that has a tool frame and a finger."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text(HANDED, encoding="utf-8")
    return tmp_path


def test_the_tip_of_a_urdf_is_chosen(handed):
    said = run("show", "arm.urdf", *DOWN, code=1)[1]
    assert "expected one tip; found tool0, finger. Say which is meant, with --tip NAME;" in said
    shown, said = run("torques", "arm.urdf", *DOWN, "--tip", "tool0", "--q", "0")
    assert float(shown.split()[2]) == pytest.approx(-2 * 9.81 * 0.3)
    assert "joint 'grip' moves beside the chain; what hangs on it (0.5 kg) is left out." in said
    assert "Held at a value with --lock JOINT=VALUE, it would count." in said
    assert len(run("torques", "arm.urdf", *DOWN, "--tip", "finger", "--q", "0,0")[0].splitlines()) == 2
    assert "there is no link 'hand' for tip" in run("show", "arm.urdf", *DOWN, "--tip", "hand", code=1)[1]


@pytest.mark.parametrize(("value", "angle"), [("0", 0), ("pi/2", np.pi / 2), ("-30deg", -np.pi / 6)])
def test_a_finger_that_is_held_counts_with_its_mass(handed, value, angle):
    shown, said = run("torques", "arm.urdf", *DOWN, "--lock", f"grip={value}", "--q", "0")
    wanted = -9.81 * (2 * 0.3 + 0.5 * (0.4 + 0.2 * np.sin(angle)))
    assert float(shown.split()[2]) == pytest.approx(wanted)
    assert said == (
        "note: arm.urdf: no tip is given; tool0 is taken. The torques are the same for finger. "
        "Choose another one with --tip NAME if you like."
    )


def test_the_base_of_a_urdf_is_chosen(handed):
    assert len(run("torques", "arm.urdf", *DOWN, "--base", "rod", "--tip", "finger", "--q", "0")[0].splitlines()) == 1


def test_a_xacro_is_answered_with_what_makes_a_urdf_of_it(handed):
    text = HANDED.replace("<link", '<xacro:property name="m" value="1"/><link', 1)
    (handed / "arm.urdf.xacro").write_text(text, encoding="utf-8")
    assert (
        "is a xacro; make a URDF of it first: xacro arm.urdf.xacro" in run("show", "arm.urdf.xacro", *DOWN, code=1)[1]
    )


def test_locks_are_checked(handed):
    assert "'grip' is given twice" in run("show", "arm.urdf", *DOWN, "--lock", "grip=1", "--lock", "grip=1", code=2)[1]
    assert (
        "there is no joint 'girp' to lock; the joints that move are hinge, grip. Did you mean 'grip'?"
        in (run("show", "arm.urdf", *DOWN, "--lock", "girp=1", code=1)[1])
    )


def test_impossible_masses_of_a_urdf_are_taken_if_asked(handed):
    (handed / "arm.urdf").write_text(urdf.EXAMPLE.replace('ixx="0"', 'ixx="9"'), encoding="utf-8")
    said = run("show", "arm.urdf", *DOWN, code=1)[1]
    assert "break the triangle rule" in said
    assert said.endswith("take them as they are with --allow-impossible.")
    assert "they are kept" in run("show", "arm.urdf", *DOWN, "--allow-impossible")[1]


IN_PYTHON = re.compile(r"\w=|\(\.\.\.\)|numpy|robotfile|urdf\.|robots?\.\w+\(")


@pytest.mark.parametrize(
    "words",
    [
        ["show", "nothing"],
        ["show", "arm.urdf", *DOWN],
        ["show", "arm.urdf", *DOWN, "--tip", "tool0"],
        ["show", "bad.urdf", *DOWN],
        ["show", "follows.urdf", *DOWN, "--tip", "finger"],
        ["torques", "arm.urdf", *DOWN, "--lock", "grip=1", "--q", "-90"],
        ["torques", "puma560", "--q", "90,0,0,0,0,0"],
        ["torques", "planar_2r", "--q", "0,0"],
    ],
)
def test_advice_is_advice_for_the_command(words, handed):
    (handed / "bad.urdf").write_text(urdf.EXAMPLE.replace('ixx="0"', 'ixx="9"'), encoding="utf-8")
    follows = HANDED.replace('<axis xyz="0 1 0"/><limit lower', '<mimic joint="hinge"/><limit lower')
    (handed / "follows.urdf").write_text(follows, encoding="utf-8")
    done = CliRunner().invoke(cli.app, words, env={"COLUMNS": "500", "TERM": "dumb"})
    said = re.sub(
        r"arm.urdf|follows.urdf|bad.urdf|(?<=--set )\w+=\.\.\.|(JOINT|NAME)=VALUE|allow_impossible = true",
        "",
        done.stderr,
    )
    assert said.strip()
    assert not IN_PYTHON.search(said), done.stderr


def test_torques_too_long_to_be_shown_come_with_advice_for_the_command():
    assert run("torques", "puma560")[0].splitlines()[0].endswith("too long to be shown: see dynlib derive ARM --named")


# ---- Where the derivation is written --------------------------------------------------------------------


def test_a_dash_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("derive", "rp", "-o", "-") == run("derive", "rp")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [os.link, os.symlink, None])
def test_the_file_of_the_arm_is_not_overwritten(make, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(toml.EXAMPLE, encoding="utf-8")
    out = "arm.toml"
    if make:
        out = "arm.md"
        make("arm.toml", out)
    said = run("derive", "arm.toml", "--to", "md", "-o", out, code=1)[1]
    assert said == f"dynlib: {out} is the file of the arm, which would be lost; choose another name for -o."
    assert (tmp_path / "arm.toml").read_text(encoding="utf-8") == toml.EXAMPLE


def test_where_nothing_can_be_written_nothing_is_derived(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "render", lambda *_, **__: pytest.fail("derived"))
    monkeypatch.chdir(tmp_path)
    run("derive", "rp", "-o", "none/arm.md", code=1)
    (tmp_path / "arm.md").mkdir()
    run("derive", "rp", "-o", "arm.md", code=1)


# ---- What else can happen --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["torques", "derive"])
def test_torques_that_are_not_finite_are_an_error(command):
    state = ["--q", "0,0,0,0,0,0", "--dq", "1e200,1,1,1,1e200,0"]
    shown, said = run(command, "puma560", *state, code=1)
    assert shown == ""
    assert "the torque is no finite number: dq holds 1e+200, which is too large" in said


@pytest.mark.filterwarnings("ignore:.*no real body")
@pytest.mark.parametrize("turn", ["0", "-90deg", "pi", "pi/2", "3*pi/2"])
@pytest.mark.parametrize("name", ["ur5", "puma560_modified", "stanford"])
def test_a_torque_that_is_only_rounding_is_printed_as_zero(name, turn):
    arm = cli.load(name)
    for joint in range(arm.n):
        q = ["0"] * arm.n
        q[joint] = turn if arm.links[joint].turn else "0.5"
        shown, _ = run("torques", name, "--q", ",".join(q))
        printed = np.array([float(line.split()[2]) for line in shown.splitlines()])
        tau = newton_euler.inverse_dynamics(arm, [cli.number(each) for each in q], [0] * arm.n, [0] * arm.n)
        assert printed == pytest.approx(tau, rel=1e-9, abs=1e-11)
        assert np.abs(printed[printed != 0]).min(initial=1) > 1e-9


def test_a_small_torque_that_is_no_rounding_is_printed():
    shown, _ = run("torques", "rp", "--q", "pi/2,0.5", "--ddq", "1e-9,0")
    assert float(shown.split()[2]) == pytest.approx(1.079e-9, rel=1e-3)


def test_the_options_of_an_arm_are_those_of_every_command():
    wanted = set(inspect.signature(cli.load).parameters)
    for command in (cli.show, cli.derive, cli.torques):
        assert wanted <= set(inspect.signature(command).parameters)


def test_names_cannot_steer_the_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = urdf.EXAMPLE.replace("one joint", "red\x9b31m \u202e").replace('"rod"', '"r\x9b31m"')
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    for words, code in (
        (["show", "arm.urdf", *DOWN], 0),
        (["show", "arm.urdf", *DOWN, "--tip", "x\x1b[31m"], 1),
        (["show", "\x1b[31m.toml"], 1),
        (["show", "\x1b[31m"], 1),
        (["torques", "rp", "--q", "\x1b[31m"], 2),
        (["show", "rp", "--set", "\x1b[31m=1"], 1),
    ):
        done = CliRunner().invoke(cli.app, words, env={"COLUMNS": "500", "TERM": "dumb"})
        assert done.exit_code == code
        assert not [c for c in done.output if not c.isprintable() and c != "\n"]
        assert "31m" in done.output


@pytest.mark.parametrize("name", ["[/red]", "[bold red on white]x", "\\\\[", "[link=x]"])
def test_brackets_in_names_are_only_brackets(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(f'name = "{name}"\n{toml.EXAMPLE}', encoding="utf-8")
    shown = tomllib.loads(f'name = "{name}"')["name"]
    assert run("derive", "arm.toml", "--q", "0,0", "-o", "[x].md")[1] == "[x].md is written."
    assert shown in run("show", "arm.toml")[0]
    said = run("torques", "arm.toml", "--q", name, code=2)[1]
    assert "expected" in said


INTERRUPTED = """
import os, signal, sys, threading
from dynlib import cli, derivation, files, newton_euler, robots
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
def slowly(*_, **__):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(60)
{module}.{name} = slowly
sys.argv[1:] = {words!r}
cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        ("robots", "load", ["show", "rp"]),
        ("newton_euler", "inverse_dynamics", ["torques", "rp"]),
        ("derivation.document", "derive", ["derive", "panda"]),
        ("files", "Path.replace", ["derive", "rp", "-o", "arm.md"]),
    ],
)
def test_an_interruption_ends_every_command_in_one_sentence(module, name, words, tmp_path):
    code = INTERRUPTED.format(module=module, name=name, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stderr.decode("utf-8").strip().splitlines() == ["dynlib: interrupted."]
    assert done.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_while_the_command_is_loaded_ends_in_one_sentence():
    code = """
import sys
from dynlib import __main__ as start
class Interrupted:
    def find_spec(self, name, *_):
        if name == "dynlib.cli":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
start.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT)
    assert (done.returncode, done.stderr.decode().split("\n")) == (130, ["dynlib: interrupted.", ""])


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_reader_that_has_seen_enough_is_no_error():
    command = f"{sys.executable} -m dynlib derive rp | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, cwd=ROOT)
    assert done.stdout.startswith(b"# Joint torques")
    assert done.stderr == b""


def test_doubtful_data_are_noted_beside_the_result():
    shown, said = run("show", "puma560")
    assert shown.startswith("PUMA 560")
    assert said.startswith("note: puma560.toml, line 17: link 1: no real body has these data")
    assert said.count("note:") == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["show", "nothing"], 1, "dynlib: the catalogue has no arm 'nothing'; it has "),
        (["show", "missing.toml"], 1, "dynlib: missing.toml: No such file or directory"),
        (["torques", "planar_2r", "--q", "0,0"], 2, "planar 2R has symbols; give them numbers: --set L1=... --set L2"),
        (["torques", "planar_2r", "--q", "0"], 2, "got 1 numbers, expected 2: 0"),
        (
            ["torques", "planar_2r", "--q", "0,x"],
            2,
            "'x' is no number; expected one such as 0.5, 30deg or -pi/2.",
        ),
        (["torques", "planar_2r", "--dq", "0,0"], 2, "--dq: give --q, too"),
        (["show", "planar_2r", "--set", "m1"], 2, "'m1' has no equals sign; expected NAME=VALUE, such as m1=2.5."),
        (["show", "planar_2r", "--set", "m9=1"], 1, "planar 2R has no symbol 'm9'; it has L1, L2, g, m1, m2."),
        (["derive", "planar_2r", "-o", "arm.doc"], 1, "arm.doc ends with '.doc'; expected .md, .tex, .html"),
        (["derive", "planar_2r", "--to", "pdf"], 2, "'pdf' is not one of 'html', 'md', 'tex'"),
        (["derive", "planar_2r", "-o", "no/such/folder/arm.md"], 1, "the folder no/such/folder does not exist."),
        (["derive", "planar_2r", "-o", "/dev/null"], 1, "dynlib: /dev/null is a device; expected a file."),
        (["derive", "planar_2r", "-o", "."], 1, "dynlib: . is a folder; expected a file."),
        (["show", "/dev/zero"], 1, "dynlib: /dev/zero is a device; expected a file."),
        (["torques", "planar_2r", "--q="], 2, "got 0 numbers, expected 2:"),
        (["torques", "planar_2r", "--q", "1_0,0"], 2, "'1_0' is no number"),
        (["torques", "planar_2r", "--q", "0,1e400"], 2, "'1e400' is too large a number; the largest one is"),
        (["show", "planar_2r", "--set", "m1=1", "--set", " m1 = 1"], 2, "'m1' is given twice; expected one value"),
        (["show", "planar_2r", "--set", "m1="], 2, "'m1': '' is no number"),
        (["show", "planar_2r", "--set", "=1"], 2, "'=1' has no name; expected NAME=VALUE, such as m1=2.5."),
        (["show", "planar_2r", "--tip", "x"], 2, "--tip: only a URDF needs it; a robot file says such"),
        (["show", "planar_2r", "--base", "x"], 2, "--base: only a URDF needs it"),
        (["show", "planar_2r", "--lock", "x=1"], 2, "--lock: only a URDF needs it"),
        (["show", "planar_2r", "--allow-impossible"], 2, "--allow-impossible: only a URDF needs it"),
        (["show"], 2, "Missing argument"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(words, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run(*words, code=code)[1]
    assert message in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("-1e-3", -0.001), (".5", 0.5), ("90deg", np.pi / 2), ("pi", np.pi), ("-3*pi/4", -3 * np.pi / 4)],
)
def test_numbers_are_read(text, value):
    assert cli.number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", [
    "", "x", "1,2", "pi/0", "1 deg", "nan", "inf", "__import__('os')", "2**3", "pi*2", "1_0", "1_0deg", "\u0663",
    "\u0663*pi", "pi/\u0663",
])  # fmt: skip
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="is no number"):
        cli.number(text)


@pytest.mark.parametrize("text", ["1e400", "-1e400", "1e400deg", "9" * 400 + "*pi", "9" * 400])
def test_numbers_without_a_value_are_refused(text):
    with pytest.raises(ValueError, match="is too large a number"):
        cli.number(text)


@pytest.mark.parametrize("command", ["show", "derive", "torques"])
def test_help_of_every_command_shows_an_example_that_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_arm.toml").write_text(toml.EXAMPLE, encoding="utf-8")
    shown = run(command, "--help")[0]
    examples = [line.split("Example: dynlib ")[1].split() for line in shown.splitlines() if "Example:" in line]
    assert examples
    for words in examples:
        run(*words)


def test_without_a_command_the_help_is_shown():
    shown = "".join(run(code=2))
    assert all(command in shown for command in ("show", "derive", "torques"))


def test_python_m_dynlib_and_the_script_run_the_same(monkeypatch):
    done = subprocess.run([sys.executable, "-m", "dynlib", "show", "rp"], capture_output=True, cwd=ROOT, check=True)
    assert done.stdout.decode("utf-8").splitlines() == str(robots.load("rp")).splitlines()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"dynlib": "dynlib.__main__:main"}
    monkeypatch.setattr(sys, "argv", ["dynlib", "show", "rp"])
    with pytest.raises(SystemExit, match="0"):
        start.main()


def test_a_missing_package_is_named_with_its_cure(monkeypatch):
    monkeypatch.delitem(sys.modules, "dynlib.cli")
    monkeypatch.delattr("dynlib.cli")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as caught:
        start.main()
    assert str(caught.value) == "The command needs the package typer, which is not installed: pip install typer"


def test_warnings_of_the_library_are_back_after_a_command():
    before = list(warnings.filters)
    run("show", "rp")
    assert warnings.filters == before
