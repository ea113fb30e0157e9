"""The files around the course: complete, consistent with each other, readable on every system."""

import ast
import contextlib
import importlib
import importlib.metadata
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
import warnings
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version
from setuptools.config.pyprojecttoml import read_configuration

import dynlib
import tools.__main__ as commands
from tools import requirements as renewal
from tools import setup_env
from tools import test as checks
from tools.files import ROOT, course_files, pages_in_toc, write_text
from tools.requirements import BINDER, BINDER_HEADER, HEADER, PINS, packages_in
from tools.test import Result, counted

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".txt", ".cff", ".bib", ".css", ".ipynb", ""}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def texts():
    """Yield (name, text) of each text file of the course."""
    for path in course_files():
        if path.suffix in TEXT:
            yield path.relative_to(ROOT).as_posix(), path.read_bytes().decode("utf-8")


def requirements():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_text_files_are_utf8_with_lf_line_ends():
    assert [name for name, text in texts() if "\r" in text] == []


def test_no_path_of_one_machine_is_written_down():
    pattern = re.compile(r"(?<![\w.])/(?:home|Users|root|work|opt|tmp)/\w|[A-Z]:\\Users")
    found = {name: pattern.findall(text) for name, text in texts() if name != "tests/test_repository.py"}
    assert {name: paths for name, paths in found.items() if paths} == {}


def test_nothing_is_promised_for_later():
    pattern = re.compile(r"\bTODO\b|\bFIXME\b|coming soon|lorem ipsum", re.IGNORECASE)
    found = [name for name, text in texts() if name != "tests/test_repository.py" and pattern.search(text)]
    assert found == []


def test_requirements_are_exact_and_end_with_the_course_itself():
    *packages, last = requirements()
    assert last == "-e ."
    for line in packages:  # and nothing about the place where somebody's packages come from
        assert re.fullmatch(r"[a-z\d.-]+==[\w.+]+( ; [\w\s!=<>'.()]+)?", line), line
    names = [Requirement(line).name for line in packages]
    assert names == sorted(set(names))


@pytest.mark.parametrize(("path", "header", "end"), [(PINS, HEADER, "-e .\n"), (BINDER, BINDER_HEADER, "")])
def test_requirements_are_written_by_the_command(path, header, end):
    text = path.read_text(encoding="utf-8")
    assert text == header + "".join(f"{line}\n" for line in packages_in(text)) + end
    assert all(" ;" not in line for line in packages_in(text)) or path == PINS, "Binder is one system"


def test_the_newest_packages_that_fit_are_asked_of_uv(tmp_path, monkeypatch):
    """A stand-in for uv adds a package to the versions that it may keep, and tells what it was asked."""
    asked = []

    def uv(command, cwd):
        (output,) = [Path(each.partition("=")[2]) for each in command if each.startswith("--output-file=")]
        asked.append((command, output.read_text(encoding="utf-8")))
        output.write_text(asked[-1][1] + "\nnewest==1.0\n", encoding="utf-8")
        return subprocess.CompletedProcess(command, 0)

    for name in ("PINS", "BINDER"):
        monkeypatch.setattr(renewal, name, tmp_path / name)
    monkeypatch.setattr(renewal.shutil, "which", lambda name: f"/somewhere/{name}")
    monkeypatch.setattr(renewal.subprocess, "run", uv)
    for arguments, kept in (([], ""), (["--keep"], "old==1.0")):
        asked.clear()
        (tmp_path / "PINS").write_text("# a comment\nold==1.0\n-e .\n", encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["requirements", *arguments])
        renewal.main()
        (all_of_it, before), (for_binder, pins) = asked
        assert {"--all-extras", "--universal", "--fork-strategy=fewest"} <= set(all_of_it)
        assert (before, pins) == (kept, f"{kept}\nnewest==1.0\n")
        assert [each for each in for_binder if each.startswith("--extra")] == [
            "--extra=lab",
            "--extra=cli",
            "--extra=document",
        ]
        assert (tmp_path / "PINS").read_text(encoding="utf-8") == f"{HEADER}{pins}-e .\n"
        assert (tmp_path / "BINDER").read_text(encoding="utf-8") == f"{BINDER_HEADER}{pins}\nnewest==1.0\n"


def test_requirements_stay_as_they_are_where_uv_finds_no_set(tmp_path, monkeypatch):
    (tmp_path / "PINS").write_text("old==1.0\n-e .\n", encoding="utf-8")
    monkeypatch.setattr(renewal, "PINS", tmp_path / "PINS")
    monkeypatch.setattr(renewal.shutil, "which", lambda name: "/somewhere/uv")
    monkeypatch.setattr(renewal.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1))
    monkeypatch.setattr(sys, "argv", ["requirements"])
    with pytest.raises(SystemExit, match="as they were"):
        renewal.main()
    assert (tmp_path / "PINS").read_text(encoding="utf-8") == "old==1.0\n-e .\n"


def test_requirements_hold_everything_that_pyproject_asks_for():
    pinned = {Requirement(line).name.lower().replace("_", "-"): line for line in requirements()[:-1]}
    extras = PROJECT["project"]["optional-dependencies"].values()
    for line in [*PROJECT["project"]["dependencies"], *(line for extra in extras for line in extra)]:
        asked = Requirement(line)
        exact = Requirement(pinned[asked.name.lower().replace("_", "-")])
        assert asked.specifier.contains(str(exact.specifier).removeprefix("==")), f"{exact} is not {asked}"


def test_installed_packages_are_the_pinned_ones():
    stamp = setup_env.read_stamp()
    if stamp is None or sys.prefix != setup_env.VENV:
        pytest.skip("not run in the environment that requirements.txt makes")
    for line in requirements()[:-1]:
        pinned = Requirement(line)
        if pinned.marker is None or pinned.marker.evaluate():
            assert f"=={importlib.metadata.version(pinned.name)}" == str(pinned.specifier)


def test_versions_agree():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dynlib.__version__ == importlib.metadata.version("dynlib"), "make env"
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "license"} <= set(citation)
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert oldest == ".".join(map(str, setup_env.OLDEST)) == PROJECT["tool"]["mypy"]["python_version"]
    assert (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip() == f"python-{oldest}"


def test_the_version_stands_in_one_place():
    """Only the data for citing repeat it; setuptools, the benchmarks and everything else read it from the package."""
    says = re.compile(rf"version\w*[\"']?\s*[:=]+\s*[\"']?v?{re.escape(dynlib.__version__)}(?![\w.])", re.IGNORECASE)
    assert [name for name, text in texts() if says.search(text)] == ["CITATION.cff", "dynlib/__init__.py"]
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # setuptools says that its own settings may change
        read = read_configuration(ROOT / "pyproject.toml")
    assert read["project"]["version"] == dynlib.__version__


def test_every_module_of_dynlib_is_in_the_library_reference():
    pages = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "book" / "api").glob("*.md")}
    documented = {name for text in pages.values() for name in re.findall(r"automodule:: ([\w.]+)", text)}
    assert {f"dynlib.{name}" for name in pages} == documented, "a page of book/api describes the module of its name"
    listed = re.findall(
        r"^   (dynlib[\w.]+)$", (ROOT / "book" / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert sorted(listed) == sorted(documented), "book/api.md lists each page once"
    modules = set()
    for path in (ROOT / "dynlib").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if not path.name.startswith("_") or path.name == "__init__.py":
            modules.add(name)
    tables = {
        f"dynlib.misconceptions.{name}" for name in "words slips newton_euler lagrange structure closed_chains".split()
    }
    inside = {f"dynlib.robots.{name}" for name in ("catalogue", "planar")}  # the page of robots shows their functions
    missing = modules - documented - tables - inside - {"dynlib"}
    assert missing == set(), "book/api lacks these"
    assert documented <= modules, "book/api names modules that are not there"


def test_no_constant_has_a_sentence_that_the_library_reference_takes_for_its_type():
    """Text before ": " in the first line below a constant becomes its type on the page."""
    torn = []
    for path in sorted((ROOT / "dynlib").rglob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for constant, text in itertools.pairwise(body):
            if isinstance(constant, ast.Assign) and isinstance(text, ast.Expr):
                sentence = ast.literal_eval(text.value)
                if ": " in sentence.splitlines()[0]:
                    torn.append(f"{path.name}: {sentence}")
    assert torn == []


CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_list_of_changes_has_the_usual_form_and_ends_in_this_version():
    headings = re.findall(r"^## (.*)$", CHANGES, flags=re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)", heading) for heading in headings[1:]]
    assert all(released), f"headings are [version] - date: {headings}"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert released[0].groups() == (dynlib.__version__, str(citation["date-released"]))
    versions = [Version(each[1]) for each in released]
    assert versions == sorted(versions, reverse=True)
    kinds = set(re.findall(r"^### (.*)$", CHANGES, flags=re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_what_the_list_of_changes_says_about_names_is_true():
    now = re.findall(r"^ *\|.*\| `(dynlib[\w.]*)` \|$", CHANGES.partition("## [0.1.0]")[0], flags=re.MULTILINE)
    assert len(now) == len(set(now))
    for name in now:
        importlib.import_module(name)
    for module, name in re.findall(r"`from (dynlib[\w.]*) import (\w+)`", CHANGES):
        assert hasattr(importlib.import_module(module), name), name


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "LICENSE-TEXT.md", "CHANGELOG.md"])
def test_links_between_files_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and not target.startswith(("https://", "mailto:"))]
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_settings_are_shipped_without_a_repository():
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert settings["repository"] == {"url": "", "branch": ""}
    assert settings["execute"]["execute_notebooks"] == "off"
    assert settings["only_build_toc_files"] is True
    assert pages_in_toc()[0] == "book/welcome"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_is_well_formed(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "permissions", "jobs"} <= set(workflow)
    assert True in workflow  # YAML reads the key `on` as true
    for job in workflow["jobs"].values():
        assert "uses" in job or {"runs-on", "steps"} <= set(job)
        for step in job.get("steps", []):
            assert ("uses" in step) != ("run" in step), step
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), f"{step} is not pinned to a commit"
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_pinned_actions_say_which_version_they_are(path):
    pins = re.findall(r"uses: [\w-]+/[\w-]+@.*", path.read_text(encoding="utf-8"))
    assert [pin for pin in pins if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", pin)] == []


def test_one_action_has_one_version():
    texts = [path.read_text(encoding="utf-8") for path in WORKFLOWS]
    pins = {pin for text in texts for pin in re.findall(r"uses: ([\w-]+/[\w-]+)@(.*)", text)}
    assert len(pins) == len({action for action, _ in pins}), sorted(pins)


def test_the_right_to_write_lives_in_jobs_that_install_nothing():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            if "write" not in job.get("permissions", {}).values():
                continue
            commands = "\n".join(step.get("run", "") for step in job["steps"]).replace("`make ", "")
            actions = {step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step}
            assert not re.search(r"\b(pip|make|python|npm|apt-get)\b", commands), f"{path.name}: {name}"
            assert actions <= {"actions/deploy-pages", "actions/download-artifact"}, f"{path.name}: {name}"


def test_a_commit_is_checked_by_the_ruff_of_the_course(tmp_path, monkeypatch):
    """What pre-commit would run is run on a file with a mistake in style and one in layout."""
    settings = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in settings["repos"]] == ["local"], "no second version of a tool"
    hooks = settings["repos"][0]["hooks"]
    assert [(hook["language"], hook["pass_filenames"]) for hook in hooks] == [("system", False)]
    assert not any("additional_dependencies" in hook for hook in hooks)
    python, module, tools, *arguments = shlex.split(hooks[0]["entry"])
    assert (python, module, tools) == ("python", "-m", "tools")
    calls = []
    monkeypatch.setattr(commands.turn, "taken", contextlib.nullcontext)
    monkeypatch.setattr(commands.setup_env, "ensure", lambda: sys.executable)
    monkeypatch.setattr(commands.subprocess, "call", lambda command, **options: calls.append(command))
    commands.main(arguments)
    for name in ("dynlib/files.py", "pyproject.toml", *(f"tools/{path.name}" for path in ROOT.glob("tools/*.py"))):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)

    def run():
        return subprocess.run(calls[0], cwd=tmp_path, capture_output=True, encoding="utf-8")

    assert run().returncode == 0
    (tmp_path / "tools" / "lab.py").write_text('"""A mistake."""\n\nimport os\n', encoding="utf-8")
    (tmp_path / "tools" / "turn.py").write_text('"""Layout."""\nx=1\n', encoding="utf-8")
    done = run()
    assert done.returncode == 1
    assert re.search("lab.py:3:8: .*unused", done.stdout)
    assert re.search("turn.py:2:1: unformatted", done.stdout)


def test_there_are_workflows():
    assert {path.stem for path in WORKFLOWS} == {"test", "publish", "weekly"}


def test_commands_are_the_same_with_and_without_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)[1].split())
    done = subprocess.run([sys.executable, "-m", "tools", "help"], cwd=ROOT, capture_output=True, encoding="utf-8")
    listed = set(re.findall(r"^  ([\w-]+) ", done.stdout, flags=re.MULTILINE))
    assert targets == listed | {"help"}
    assert set(re.findall(r'"make ([\w-]+)', makefile)) == listed


# ---- The commands themselves -----------------------------------------------------------------------


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "θ.txt"
    assert write_text(path, "ω\n")
    assert path.read_bytes() == "ω\n".encode()
    assert not write_text(path, "ω\n"), "the same text is not written again"
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_bytes() == "ω\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("closing", "good", "result"),
    [
        ("12 passed in 0.5s", True, Result(12, 0)),
        ("= 2 failed, 12 passed, 1 skipped in 61.0s (0:01:01) =", False, Result(12, 2)),
        ("= 3 passed, 1 error in 2.0s =", False, Result(3, 1)),
        ("no tests ran in 0.1s", False, Result(0, 1)),
        ("INTERNALERROR> something", False, Result(0, 1)),
    ],
)
def test_counting_of_tests(closing, good, result):
    assert counted(closing, good) == result


def test_two_lanes_run_at_once_and_print_one_step_after_the_other(monkeypatch, capsys):
    """The first step that is shown waits for one that is shown last, and one of them breaks off."""
    begun = threading.Event()

    def waits(show):
        show("waits\n")
        assert begun.wait(60), "the lanes do not run at once"
        show("goes on\n")
        return Result(3, 0)

    def breaks(show):
        begun.set()
        show("breaks\n")
        raise OSError("no disk")

    steps = {"first": ("the first", waits), "second": ("the second", lambda show: Result(1, 0)), "last": ("it", breaks)}
    monkeypatch.setattr(checks, "STEPS", steps)
    monkeypatch.setattr(checks, "LANES", [["last"], ["first", "second"]])
    monkeypatch.setattr(sys, "argv", ["test"])
    assert checks.main() == 1
    said = capsys.readouterr().out
    places = [
        said.index(words) for words in ("waits", "goes on", "the second", "breaks", "OSError: no disk", "Summary")
    ]
    assert places == sorted(places)
    assert said.endswith("4 passed, 1 failed\n")


def test_every_step_is_in_one_lane():
    assert sorted(itertools.chain(*checks.LANES)) == sorted(checks.STEPS)
    for needs in (["build", "links", "pages"],):
        assert [[name for name in lane if name in needs] for lane in checks.LANES if needs[0] in lane] == [needs]


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("WARNING: Retrying ... NewConnectionError('...: Failed to establish a new connection')", "cannot be reached"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: Could not install packages due to an OSError: [Errno 13] Permission denied: 'x'", "cannot be written"),
        ("Error: Command '[..., '-m', 'ensurepip']' returned non-zero exit status 1.", "venv module"),
        ("ERROR: No matching distribution found for numpy==0.0", "No matching distribution found for numpy==0.0"),
        ("error: Failed to fetch: `numpy`\n  Caused by: dns error", "cannot be reached"),
        ("error: failed to create file `.venv/x`: Permission denied (os error 13)", "cannot be written"),
        (
            "  × No solution found when resolving dependencies:\n  ╰─▶ Because there is",
            "No solution found when resolving",
        ),
    ],
)
def test_a_failed_installation_is_explained_in_one_sentence(log, words):
    message = setup_env.reason(log)
    assert words in message
    assert "\n" not in message
    assert "install.log" in message


def python_that_says(folder, version, venv=True):
    """Write a program that answers as a Python of some version does; return its path."""
    path = folder / f"python{version.replace(' ', '.')}{'' if venv else '-bare'}"
    path.write_text(
        f'#!/bin/sh\ncase "$*" in\n*version_info*) echo "{version}|{path}";;\n'
        f"*ensurepip*) exit {int(not venv)};;\nesac\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for another Python is a shell script")
@pytest.mark.parametrize(
    ("version", "venv", "words"),
    [
        ("3 9", True, "needs Python 3.11, 3.12 or 3.13, but "),
        ("3 15", True, "needs Python 3.11, 3.12 or 3.13, but "),
        ("3 12", False, "apt install python3.12-venv"),
    ],
)
def test_an_unsuitable_python_is_refused_in_one_sentence(tmp_path, monkeypatch, version, venv, words):
    path = python_that_says(tmp_path, version, venv)
    monkeypatch.setenv("COURSE_PYTHON", str(path))
    with pytest.raises(setup_env.Trouble) as caught:
        setup_env.find_python()
    message = str(caught.value)
    assert words in message
    assert str(path) in message
    assert "\n" not in message


def test_a_python_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("COURSE_PYTHON", "python-of-nobody")
    with pytest.raises(setup_env.Trouble, match="starts no Python"):
        setup_env.find_python()


def test_installation_depends_on_what_is_installed_only():
    assert json.dumps(setup_env.wanted()) == json.dumps(setup_env.wanted())
    assert set(setup_env.wanted()) == {"digest", "folder"}
