"""The environment `.venv` and the commands that work in it: damaged ones are mended, what works is kept."""

import json
import subprocess
import sys
import threading
import time

import pytest

from tools import book, setup_env, turn


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Let setup_env work in an empty folder, with installations that only write a package of three files."""
    for name, path in {"VENV": ".venv", "BEFORE": ".venv.before", "STAMP": ".venv/stamp.json", "LOG": ".venv/log",
                       "UNFINISHED": ".venv/unfinished"}.items():  # fmt: skip
        monkeypatch.setattr(setup_env, name, str(tmp_path / path))
    monkeypatch.setattr(setup_env, "find_python", lambda: sys.executable)
    monkeypatch.delenv("COURSE_PYTHON", raising=False)
    monkeypatch.setattr(setup_env, "ask", lambda command: "pip")

    def new_venv(command, **options):
        python = setup_env.venv_python()
        for path in (python, str(tmp_path / ".venv" / "pyvenv.cfg")):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("")
        return 0

    monkeypatch.setattr(setup_env.subprocess, "call", new_venv)
    monkeypatch.setattr(setup_env, "describe", lambda command: ((3, 12), command[0]))
    monkeypatch.setattr(setup_env, "install", lambda: write_package(tmp_path))
    return tmp_path


def package(folder):
    return folder / ".venv" / "lib" / "python3.12" / "site-packages" / "arms"


def write_package(folder):
    package(folder).mkdir(parents=True, exist_ok=True)
    for name in ("__init__.py", "elbow.py", "wrist.py"):
        (package(folder) / name).write_text("")


def refuse():
    raise setup_env.Trouble("The Python package index cannot be reached.")


def test_a_finished_environment_is_left_alone(folder, monkeypatch):
    setup_env.ensure()
    monkeypatch.setattr(setup_env, "install", refuse)
    assert setup_env.ensure() == setup_env.venv_python()


@pytest.mark.parametrize("lost", ["package", "one file", "python", "settings", "unfinished"])
def test_a_damaged_environment_is_made_anew(folder, monkeypatch, lost):
    setup_env.ensure()
    if lost == "package":
        for path in package(folder).iterdir():
            path.unlink()
        package(folder).rmdir()
    elif lost == "one file":
        (package(folder) / "wrist.py").unlink()
    elif lost == "python":
        (folder / setup_env.venv_python()).unlink()
    elif lost == "settings":
        (folder / ".venv" / "pyvenv.cfg").unlink()
    else:
        setup_env.touch(setup_env.UNFINISHED)
    setup_env.ensure()
    assert (package(folder) / "wrist.py").exists()
    assert (folder / ".venv" / "pyvenv.cfg").exists()
    assert not (folder / ".venv.before").exists()
    assert not (folder / ".venv" / "unfinished").exists()


def test_packages_that_somebody_added_and_compiled_files_do_no_harm(folder, monkeypatch):
    setup_env.ensure()
    (package(folder) / "__pycache__").mkdir()
    (package(folder) / "__pycache__" / "wrist.pyc").write_text("")
    (package(folder).parent / "editor").mkdir()
    (package(folder).parent / "editor" / "__init__.py").write_text("")
    monkeypatch.setattr(setup_env, "install", refuse)
    setup_env.ensure()


@pytest.mark.parametrize("anew", [False, True])
def test_what_worked_is_kept_when_the_next_installation_fails(folder, monkeypatch, anew):
    setup_env.ensure()
    (package(folder) / "here.txt").write_text("the old one")
    first = setup_env.wanted()
    monkeypatch.setattr(setup_env, "wanted", lambda: {"digest": "another", "folder": first["folder"]})
    monkeypatch.setattr(setup_env, "install", refuse)
    if anew:  # another Python: the new environment is made from nothing
        monkeypatch.setenv("COURSE_PYTHON", "another")
        monkeypatch.setattr(
            setup_env, "describe", lambda command: ((3, 13) if command[0] == "another" else (3, 12), command[0])
        )
    with pytest.raises(setup_env.Trouble, match=r"cannot be reached\. What was installed before is kept\."):
        setup_env.ensure()
    monkeypatch.setattr(setup_env, "wanted", lambda: first)
    monkeypatch.delenv("COURSE_PYTHON", raising=False)
    setup_env.ensure()  # installs nothing: the requirements are those of before
    assert (package(folder) / "here.txt").read_text() == "the old one"


def test_an_installation_killed_midway_gives_the_old_environment_back(folder, monkeypatch):
    setup_env.ensure()
    (package(folder) / "here.txt").write_text("the old one")
    (folder / ".venv").rename(folder / ".venv.before")  # so far an installation from nothing had come
    (folder / ".venv").mkdir()
    setup_env.touch(setup_env.UNFINISHED)
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


def test_the_stamp_says_what_is_installed(folder):
    setup_env.ensure()
    stamp = json.loads((folder / ".venv" / "stamp.json").read_text())
    assert stamp["parts"]["lib/python3.12/site-packages/arms"] == 3
    assert {key: stamp[key] for key in ("digest", "folder")} == setup_env.wanted()


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
            took.append(first.poll())

    waiting = threading.Thread(target=second)
    waiting.start()
    time.sleep(0.1)
    assert took == []
    first.kill()  # also a command that is killed gives way
    first.communicate()
    waiting.join(timeout=10)
    assert took == [first.returncode]
    assert capsys.readouterr().out == turn.WAITING + "\n"


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
