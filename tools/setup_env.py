# -*- coding: utf-8 -*-
"""Make the course's own Python environment, `.venv`, from requirements.txt: by uv where it is there, else by pip.

An environment is finished when its stamp is there, which is written last. The one before stays beside it until then
and comes back if the new one fails, is interrupted or killed; nothing is changed in an environment that works.

Standard library only. This file and `__main__.py` keep to syntax that every Python reads, back to 2.7,
so that a Python which is too old says so in one sentence instead of showing a syntax error.
"""

from __future__ import print_function

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time

OLDEST = (3, 11)
NEWEST = (3, 13)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
BEFORE = os.path.join(ROOT, ".venv.before")
LOG = os.path.join(ROOT, "_build", "install.log")

SUPPORTED = "Python 3.11, 3.12 or 3.13"
HOW_TO_NAME = "install one of them, or name one: make book PYTHON=python3.12 (without make: python3.12 -m tools book)"
AGAIN = "then run the same command again (the details are in %s)." % os.path.join("_build", "install.log")
# Why an installation failed: what pip, venv or uv write, and what to tell the reader.
REASONS = [
    (
        "No space left|not enough space|Disk quota",
        "The disk is full: the environment needs about 1.5 GB; free some space, ",
    ),
    (
        "Permission denied|Read-only file system|Access is denied",
        "The folder .venv cannot be written: check who owns the course's folder and its disk, ",
    ),
    ("ensurepip", "This Python cannot make virtual environments: install its venv module, "),
    (
        "NewConnectionError|NameResolutionError|(Connect|Read)TimeoutError|ProxyError|SSLError|Max retries exceeded"
        "|Failed to (establish a new connection|fetch)|error sending request|(client|dns|tcp connect) error"
        "|Temporary failure in name resolution|Network is unreachable|[Cc]onnection (broken|refused)",
        "The Python package index cannot be reached: check the network connection (or the proxy), ",
    ),
]


class Trouble(Exception):
    """Something the reader can mend; the message is one sentence."""


def venv_python():
    """The path of the environment's Python, whether or not it exists yet."""
    return os.path.join(VENV, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))


def clean_environ():
    """Return the environment variables for child processes: UTF-8, and nothing that redirects Python or pip."""
    foreign = ["PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"]
    foreign += ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]  # set inside git hooks
    return dict([pair for pair in os.environ.items() if pair[0] not in foreign], PYTHONUTF8="1")


def ask(command):
    """Run a command; return its output as text, or None if it cannot run or fails."""
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.PIPE, env=clean_environ()
        )
        output = process.communicate()[0]
    except (OSError, ValueError):
        return None
    return output.decode("utf-8", "replace").strip() if process.returncode == 0 else None


def has_uv():
    """Tell whether uv is there."""
    return ask(["uv", "--version"]) is not None


def describe(command):
    """Return (version, path) of the Python that a command starts, or under an environment's Python, or None."""
    path = "getattr(sys, '_base_executable', None) or sys.executable"
    answer = ask(command + ["-c", "import sys; print('%d %d|' % sys.version_info[:2] + " + path + ")"])
    match = re.search(r"(\d+) (\d+)\|(.+)$", answer or "")
    return ((int(match.group(1)), int(match.group(2))), match.group(3).strip()) if match else None


def find_python():
    """Return the path of a supported Python that can make environments: the one that is named, else the first found."""
    named = os.environ.get("COURSE_PYTHON", "").strip()
    names = [[sys.executable]] + [[name] for name in ("python3", "python3.13", "python3.12", "python3.11", "python")]
    names += [["py", "-3.13"], ["py", "-3.12"], ["py", "-3.11"]] if os.name == "nt" else []
    found, without_venv = [], None
    for command in [[named]] if named else names:
        version, path = describe(command) or (None, None)
        if version and not OLDEST <= version <= NEWEST:
            found.append("%s is %d.%d" % ((command[0],) + version))
        elif version and (has_uv() or ask([path, "-c", "import venv, ensurepip"]) is not None):
            return path
        elif version:
            without_venv = without_venv or (path,) + version
    if without_venv:
        raise Trouble(
            "The Python at %s has no venv module, which the course needs to install its packages: "
            "install it (on Debian or Ubuntu: apt install python%d.%d-venv), then run the same command again."
            % without_venv
        )
    if named and not found:
        raise Trouble("PYTHON=%s starts no Python: the course needs %s; %s." % (named, SUPPORTED, HOW_TO_NAME))
    what = " and ".join(found) or "none was found"
    raise Trouble("The course needs %s, but %s: %s." % (SUPPORTED, what, HOW_TO_NAME))


def read(*names):
    """Return the text of a file of the course."""
    with io.open(os.path.join(ROOT, *names), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def wanted():
    """Return what the stamp of a finished environment says: the requirements, the package, the folder."""
    tables = re.split(r"(?m)^(?=\[)", read("pyproject.toml"))
    shaping = [table for table in tables if re.match(r"\[(project|build-system|tool\.setuptools)\b", table)]
    version = re.search("__version__ = .*", read("dynlib", "__init__.py")).group()
    text = "".join([read("requirements.txt"), version] + shaping)  # not the settings of the test tools
    return {"digest": hashlib.sha256(text.encode("utf-8")).hexdigest(), "folder": ROOT}


def read_stamp():
    """Return the stamp of a finished environment, or None."""
    try:
        return json.loads(read(VENV, "course-stamp.json"))
    except (OSError, IOError, ValueError):
        return None


def write_stamp():
    """Say that the environment is finished; the file is there whole or not at all."""
    path = os.path.join(VENV, "course-stamp.json")
    with io.open(path + ".new", "w", encoding="utf-8") as stream:
        stream.write(u"%s\n" % json.dumps(dict(wanted(), parts=parts()), sort_keys=True))
    os.rename(path + ".new", path)


def parts():
    """Return how many files the programs and each package of .venv have, those apart that Python makes by itself."""
    counts = {}
    for folder, _, names in os.walk(VENV):
        path = os.path.relpath(folder, VENV).split(os.sep)
        depth = path.index("site-packages") + 2 if "site-packages" in path else 1
        if path != [os.curdir] and "__pycache__" not in path:
            part = "/".join(path[:depth])
            counts[part] = counts.get(part, 0) + len([name for name in names if not name.endswith(".pyc")])
    return counts


def is_whole():
    """Tell whether .venv was finished and nothing of it has been deleted since; what was added does no harm."""
    stamp = read_stamp()
    if stamp is None or not os.path.exists(venv_python()) or not os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
        return False
    now = parts()
    return all(now.get(part, 0) >= count for part, count in stamp["parts"].items())


def settle():
    """Leave one environment: the finished one, else the one before, which a failed or killed run has put aside."""
    if not os.path.isdir(BEFORE):
        return
    if read_stamp() is not None:
        shutil.rmtree(BEFORE)
        return
    if os.path.isdir(VENV):
        shutil.rmtree(VENV)
    os.rename(BEFORE, VENV)


def reason(log):
    """Say in one sentence why an installation failed, from what uv, pip or venv wrote."""
    for signs, sentence in REASONS:
        if re.search(signs, log):
            return sentence + AGAIN
    errors = re.findall(r"(?m)^(?:ERROR: |error: | *\u00d7 )(.+?)\s*$", log)
    return "Installing the packages failed (%s): mend that, " % (errors[-1] if errors else "no message") + AGAIN


def succeeds(command):
    """Run a command that makes the environment; write what it says into the log and show now and then where it is."""
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environ(), cwd=ROOT, close_fds=False
    )
    start = shown = time.time()
    try:
        with io.open(LOG, "ab") as log:
            for line in iter(process.stdout.readline, b""):
                log.write(line)
                log.flush()
                if time.time() - shown > 5:
                    shown = time.time()
                    print("  %3d s: %s" % (shown - start, line.decode("utf-8", "replace").strip()[:80]))
                    sys.stdout.flush()
        return process.wait() == 0
    finally:
        process.stdout.close()
        if process.poll() is None:
            process.terminate()
            process.wait()


def install(python):
    """Make .venv, where nothing is, with the given Python, and install requirements.txt into it."""
    total = len(re.findall(r"(?m)^[\w-]", read("requirements.txt")))
    print("Making the environment .venv with %s: %d packages (the first time: up to five minutes)" % (python, total))
    sys.stdout.flush()
    pip = [venv_python(), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    uv = ["uv", "pip", "install", "--python", venv_python()]
    ways = [[[python, "-m", "venv", "--clear", VENV], pip + ["-r", "requirements.txt"]]]
    if has_uv():  # it may know less of a network than pip: then pip has its turn
        ways.insert(0, [["uv", "venv", "--seed", "--python", python, VENV], uv + ["-r", "requirements.txt"]])
    for way in ways:
        if not os.path.isdir(os.path.dirname(LOG)):
            os.makedirs(os.path.dirname(LOG))
        io.open(LOG, "wb").close()
        if all(succeeds(command) for command in way):
            return
    raise Trouble(reason(read(LOG)))


def ensure():
    """Return the path of the environment's Python, after making the environment if need be.

    Raises:
        Trouble: with one sentence that says what to do.
    """
    try:
        settle()  # if an earlier run was killed
        whole, stamp, want = is_whole(), read_stamp() or {}, wanted()
        ready = whole and all(stamp.get(key) == value for key, value in want.items())
        named = os.environ.get("COURSE_PYTHON", "").strip()
        if ready and named:  # another Python than before?
            other = describe([named])
            if other is None or not OLDEST <= other[0] <= NEWEST:
                find_python()  # raises Trouble
            ready = other[0] == (describe([venv_python()]) or [None])[0]
        if ready:
            return venv_python()
        python = find_python()
        if stamp and not whole:
            print("The environment .venv is not whole; it is made anew.")
        if os.path.isdir(VENV):
            os.rename(VENV, BEFORE)
        try:
            install(python)
            write_stamp()
        finally:
            settle()
    except Trouble as trouble:
        raise Trouble("%s What was installed before is kept." % trouble) if is_whole() else trouble
    except (OSError, IOError) as error:
        raise Trouble(
            "The environment .venv could not be written (%s): check the disk and who owns the folder, on Windows also "
            "whether something in .venv is running, then run the same command again." % error
        )
    return venv_python()
