"""The environment `.venv` and the commands that work in it: damaged ones are mended, what works is kept."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tools import book, setup_env, turn
from tools.files import ROOT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let setup_env work in an empty folder, with installations that only write a package of three files."""
    monkeypatch.setattr(setup_env, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(setup_env, "BEFORE", str(tmp_path / ".venv.before"))
    monkeypatch.setattr(setup_env, "LOG", str(tmp_path / "logs" / "install.log"))
    monkeypatch.setattr(setup_env, "find_python", lambda: sys.executable)
    monkeypatch.setattr(setup_env, "describe", lambda command: ((3, 12), command[0]))
    monkeypatch.setattr(setup_env, "install", lambda python: write_environment(tmp_path))
    monkeypatch.delenv("COURSE_PYTHON", raising=False)
    return tmp_path


def package(folder):
    return folder / ".venv" / "lib" / "python3.12" / "site-packages" / "arms"


def write_environment(folder):
    assert not (folder / ".venv").exists(), "nothing is changed in an environment that is there"
    for path in (folder / setup_env.venv_python(), folder / ".venv" / "pyvenv.cfg"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    package(folder).mkdir(parents=True)
    for name in ("__init__.py", "elbow.py", "wrist.py"):
        (package(folder) / name).write_text("")


def refuse(python):
    raise setup_env.Trouble("The Python package index cannot be reached.")


def test_a_finished_environment_is_left_alone(folder, monkeypatch):
    setup_env.ensure()
    monkeypatch.setattr(setup_env, "install", refuse)
    assert setup_env.ensure() == setup_env.venv_python()


@pytest.mark.parametrize("lost", ["package", "one file", "python", "settings", "stamp"])
def test_a_damaged_environment_is_made_anew(folder, monkeypatch, lost):
    setup_env.ensure()
    if lost == "package":
        for path in package(folder).iterdir():
            path.unlink()
        package(folder).rmdir()
    else:
        files = {
            "one file": package(folder) / "wrist.py",
            "python": folder / setup_env.venv_python(),
            "settings": folder / ".venv" / "pyvenv.cfg",
            "stamp": folder / ".venv" / "course-stamp.json",
        }
        files[lost].unlink()
    setup_env.ensure()
    assert (package(folder) / "wrist.py").exists()
    assert (folder / ".venv" / "pyvenv.cfg").exists()
    assert sorted(path.name for path in folder.iterdir()) == [".venv"]
    assert setup_env.is_whole()


def test_packages_that_somebody_added_and_compiled_files_do_no_harm(folder, monkeypatch):
    setup_env.ensure()
    (package(folder) / "__pycache__").mkdir()
    (package(folder) / "__pycache__" / "wrist.pyc").write_text("")
    (package(folder).parent / "editor").mkdir()
    (package(folder).parent / "editor" / "__init__.py").write_text("")
    monkeypatch.setattr(setup_env, "install", refuse)
    setup_env.ensure()


def interrupt(python):
    (Path(setup_env.VENV) / "half").mkdir(parents=True)
    raise KeyboardInterrupt


@pytest.mark.parametrize("install", [refuse, interrupt])
@pytest.mark.parametrize("anew", [False, True])
def test_what_worked_is_kept_when_the_next_installation_fails(folder, monkeypatch, anew, install):
    setup_env.ensure()
    (package(folder) / "here.txt").write_text("the old one")
    first = setup_env.wanted()
    monkeypatch.setattr(setup_env, "wanted", lambda: {"digest": "another", "folder": first["folder"]})
    monkeypatch.setattr(setup_env, "install", install)
    if anew:  # another Python
        monkeypatch.setenv("COURSE_PYTHON", "another")
        monkeypatch.setattr(
            setup_env, "describe", lambda command: ((3, 13) if command[0] == "another" else (3, 12), command[0])
        )
        monkeypatch.setattr(setup_env, "wanted", lambda: first)
    kept = r"cannot be reached\. What was installed before is kept\." if install == refuse else None
    with pytest.raises((setup_env.Trouble, KeyboardInterrupt), match=kept):
        setup_env.ensure()
    monkeypatch.setattr(setup_env, "wanted", lambda: first)
    monkeypatch.setattr(setup_env, "install", refuse)
    monkeypatch.delenv("COURSE_PYTHON", raising=False)
    setup_env.ensure()  # installs nothing: the requirements are those of before
    assert (package(folder) / "here.txt").read_text() == "the old one"
    assert not (folder / ".venv.before").exists()


@pytest.mark.parametrize("half", [True, False])
def test_an_installation_killed_midway_gives_the_old_environment_back(folder, monkeypatch, half):
    setup_env.ensure()
    (package(folder) / "here.txt").write_text("the old one")
    (folder / ".venv").rename(folder / ".venv.before")  # so far an installation had come
    if half:
        write_environment(folder)
    monkeypatch.setattr(setup_env, "install", refuse)
    setup_env.ensure()
    assert (package(folder) / "here.txt").read_text() == "the old one"
    assert not (folder / ".venv.before").exists()


def test_an_installation_killed_at_its_end_keeps_the_new_environment(folder, monkeypatch):
    setup_env.ensure()
    (folder / ".venv.before").mkdir()  # all that was left to do was to remove the old one
    monkeypatch.setattr(setup_env, "install", refuse)
    setup_env.ensure()
    assert (package(folder) / "wrist.py").exists()
    assert not (folder / ".venv.before").exists()


def test_at_every_moment_of_a_renewal_an_environment_is_there_that_works(folder, monkeypatch):
    """Stop it before each of its steps on the disk in turn, as a power cut would; the next command needs no network."""
    steps = [(os, "rename"), (setup_env.shutil, "rmtree"), (setup_env, "install"), (setup_env, "write_stamp")]

    class PowerCut(BaseException):
        pass

    def killed_before(step):
        done = [0]

        def stopping(function):
            def stepped(*arguments):
                if done[0] >= step:  # a process that is gone does nothing more
                    raise PowerCut
                done[0] += 1
                return function(*arguments)

            return stepped

        with pytest.MonkeyPatch.context() as patch:
            for place, name in steps:
                patch.setattr(place, name, stopping(getattr(place, name)))
            try:
                setup_env.ensure()
            except PowerCut:
                return True
        return False

    want = setup_env.wanted()
    survived = 0
    for step in range(20):
        for path in folder.iterdir():
            shutil.rmtree(path)
        monkeypatch.setattr(setup_env, "wanted", lambda: want)
        setup_env.ensure()
        monkeypatch.setattr(setup_env, "wanted", lambda: want | {"digest": "newer"})
        if not killed_before(step):
            break
        survived += 1
        with monkeypatch.context() as offline:
            digest = json.loads(min(folder.glob(".venv*/course-stamp.json")).read_text())["digest"]
            offline.setattr(setup_env, "wanted", lambda digest=digest: want | {"digest": digest})
            offline.setattr(setup_env, "install", refuse)
            setup_env.ensure()
    assert survived == 5  # aside, install, stamp (and its name), remove


def test_the_stamp_says_what_is_installed(folder):
    setup_env.ensure()
    stamp = json.loads((folder / ".venv" / "course-stamp.json").read_text())
    assert stamp["parts"]["lib/python3.12/site-packages/arms"] == 3
    assert {key: stamp[key] for key in ("digest", "folder")} == setup_env.wanted()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins for uv and Python are shell scripts")
@pytest.mark.parametrize(
    ("uv", "pip", "called"),
    [
        (None, 0, ["-m venv", "pip install"]),
        (0, 0, ["uv venv", "uv pip install"]),
        (1, 0, ["uv venv", "-m venv", "pip install"]),
        (1, 1, ["uv venv", "-m venv"]),
    ],
)
def test_uv_installs_where_it_is_there_else_pip(tmp_path, monkeypatch, uv, pip, called):
    """uv may fail where pip does not, as behind a company's index that only pip knows."""
    for name, code in {"uv": uv, "base": pip, ".venv/bin/python": pip}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if code is not None:
            path.write_text(
                f'#!/bin/sh\n[ "$1" = --version ] && exit 0\necho {path.name} "$@" >> {tmp_path}/calls\n'
                f"echo error: {path.name} says no\nexit {code}\n"
            )
            path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setattr(setup_env, "VENV", str(tmp_path / ".venv"))
    monkeypatch.setattr(setup_env, "LOG", str(tmp_path / "logs" / "install.log"))
    if pip:
        with pytest.raises(setup_env.Trouble, match=r"\(base says no\).*install.log"):
            setup_env.install(str(tmp_path / "base"))
    else:
        setup_env.install(str(tmp_path / "base"))
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [words in line for words, line in zip(called, calls, strict=True)] == [True] * len(called), calls


# ---- One command at a time -------------------------------------------------------------------------

HOLDER = """
import sys
from tools import turn
with turn.taken(sys.argv[1]):
    print("holds", flush=True)
    sys.stdin.readline()
"""


def test_a_second_command_waits_until_the_first_has_finished(tmp_path, capsys):
    (tmp_path / "Makefile").write_text("")
    place = str(tmp_path / "Makefile")
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=turn.ROOT
    )
    assert first.stdout.readline() == "holds\n"
    took = []

    def second():
        with turn.taken(place, pause=0.01):
            took.append("second")

    waiting = threading.Thread(target=second)
    waiting.start()
    time.sleep(0.1)
    assert took == []
    first.kill()  # also a command that is killed gives way
    first.communicate()
    waiting.join(timeout=10)
    assert took == ["second"]
    assert capsys.readouterr().out == turn.WAITING + "\n"


LEAVES = """
import subprocess, sys
from tools import turn
with turn.taken(sys.argv[1]):
    print(subprocess.Popen(["sleep", "60"], close_fds=False, stdout=subprocess.DEVNULL).pid, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, what a command has started does not hold its place")
def test_a_second_command_also_waits_for_what_a_killed_one_has_started(tmp_path):
    place = str(tmp_path / "turn")
    first = subprocess.Popen(
        [sys.executable, "-c", LEAVES, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=turn.ROOT
    )
    left = int(first.stdout.readline())
    first.kill()
    first.communicate()
    with open(place, "ab") as stream:
        assert not turn.try_lock(stream)
        os.kill(left, signal.SIGKILL)
        until = time.monotonic() + 10
        while not (free := turn.try_lock(stream)) and time.monotonic() < until:
            time.sleep(0.01)
        assert free


def test_git_does_not_replace_the_file_that_commands_lock():
    assert Path(turn.LOCKED).relative_to(ROOT).as_posix() in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def test_every_command_takes_its_turn(monkeypatch, tmp_path):
    import tools.__main__ as commands

    order = []

    class Turn:
        def __enter__(self):
            order.append("begins")

        def __exit__(self, *error):
            order.append("ends")

    monkeypatch.setattr(turn, "taken", Turn)
    monkeypatch.setattr(setup_env, "ensure", lambda: order.append("environment"))
    monkeypatch.setattr(commands.subprocess, "call", lambda *command, **options: order.append("works"))
    monkeypatch.setattr(commands, "clean", lambda: order.append("works"))
    monkeypatch.setattr(commands, "until_closed", lambda command: order.append("works"))
    for name, module, _ in commands.COMMANDS:
        commands.main([name])
        if name == "lab":  # others need not wait until the reader closes JupyterLab
            assert order.index("environment") < order.index("ends") < order.index("works")
        else:
            assert [order[0], order[-1]] == ["begins", "ends"], name
        assert ("works" in order) == (module is not None or name == "clean")
        order.clear()


def test_a_disk_without_locks_lets_every_command_pass(monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def no_locks(*arguments):
        raise OSError(37, "no locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with turn.taken():
        pass


# ---- The site --------------------------------------------------------------------------------------


def test_a_site_whose_build_was_killed_is_not_called_up_to_date(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(book, "STAMP", tmp_path / "site-stamp.json")
    monkeypatch.setattr(book, "PAGE", tmp_path / "html" / "index.html")
    monkeypatch.setattr(book, "BUILD", tmp_path)
    monkeypatch.setattr(book, "published_from", lambda: "")
    monkeypatch.setattr(book.os.path, "relpath", lambda path, start: "index.html")
    source = ["first"]
    monkeypatch.setattr(book, "digest", lambda names, *extra: source[0])

    def builds(*options):
        book.PAGE.parent.mkdir(exist_ok=True)
        book.PAGE.write_text(source[0])
        if source[0] == "second":
            raise KeyboardInterrupt
        return subprocess.CompletedProcess([], 0, "")

    monkeypatch.setattr(book, "sphinx", builds)
    assert book.main() == 0
    source[0] = "second"
    with pytest.raises(KeyboardInterrupt):  # a page has been written already
        book.main()
    source[0] = "first"
    capsys.readouterr()
    assert book.main() == 0
    assert "up to date" not in capsys.readouterr().out
    assert book.PAGE.read_text() == "first"
    assert book.main() == 0
    assert "up to date" in capsys.readouterr().out
