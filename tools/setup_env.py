# -*- coding: utf-8 -*-
"""Make the course's own Python environment, `.venv`, from requirements.txt.

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
STAMP = os.path.join(VENV, "course-stamp.json")
UNFINISHED = os.path.join(VENV, "unfinished")  # there while files in .venv are being changed
BEFORE = os.path.join(ROOT, ".venv.before")  # the environment that worked, until the new one does
LOG = os.path.join(VENV, "install.log")
LOG_NAME = os.path.join(".venv", "install.log")

SUPPORTED = "Python 3.11, 3.12 or 3.13"
HOW_TO_NAME = "install one of them, or name one: make book PYTHON=python3.12 (without make: python3.12 -m tools book)"


class Trouble(Exception):
    """Something the reader can mend; the message is one sentence."""


def venv_python():
    """The path of the environment's Python, whether or not it exists yet."""
    if os.name == "nt":
        return os.path.join(VENV, "Scripts", "python.exe")
    return os.path.join(VENV, "bin", "python")


def clean_environ():
    """Return the environment variables for child processes: UTF-8, and nothing that redirects Python or pip."""
    env = dict(os.environ)
    foreign = ["PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"]
    foreign += ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]  # set inside git hooks
    for name in foreign:
        env.pop(name, None)
    env["PYTHONUTF8"] = "1"
    return env


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


def describe(command):
    """Return (version, path) of a Python, or None if the command starts no Python."""
    answer = ask(command + ["-c", "import sys; print('%d %d|' % sys.version_info[:2] + sys.executable)"])
    match = re.search(r"(\d+) (\d+)\|(.+)$", answer or "")
    if not match:
        return None
    return (int(match.group(1)), int(match.group(2))), match.group(3).strip()


def in_venv(path):
    """Tell whether a Python lies inside .venv."""
    return os.path.abspath(path).startswith(os.path.abspath(VENV) + os.sep)


def candidates():
    """Yield the commands that may start a Python, the best guess first."""
    yield [sys.executable]
    for name in ("python3", "python3.13", "python3.12", "python3.11", "python"):
        yield [name]
    if os.name == "nt":
        for version in ("-3.13", "-3.12", "-3.11"):
            yield ["py", version]


def find_python():
    """Return the path of a supported Python that can make virtual environments."""
    named = os.environ.get("COURSE_PYTHON", "").strip()
    found, without_venv, seen = [], None, set()
    for command in [[named]] if named else candidates():
        answer = describe(command)
        if answer is None or answer[1] in seen or in_venv(answer[1]):
            continue
        version, path = answer
        seen.add(path)
        if not OLDEST <= version <= NEWEST:
            found.append("%s is %d.%d" % ((command[0],) + version))
        elif ask([path, "-c", "import venv, ensurepip"]) is None:
            without_venv = without_venv or (path, version)
        else:
            return path
    if without_venv:
        raise Trouble(
            "The Python at %s has no venv module, which the course needs to install its packages: "
            "install it (on Debian or Ubuntu: apt install python%d.%d-venv), then run the same command again."
            % ((without_venv[0],) + without_venv[1])
        )
    if named and not found:
        raise Trouble("PYTHON=%s starts no Python: the course needs %s; %s." % (named, SUPPORTED, HOW_TO_NAME))
    what = " and ".join(found) or "none was found"
    raise Trouble("The course needs %s, but %s: %s." % (SUPPORTED, what, HOW_TO_NAME))


def wanted():
    """Return what the stamp of a finished environment says: the requirements, the package, the folder."""
    digest = hashlib.sha256()
    with io.open(os.path.join(ROOT, "requirements.txt"), "rb") as stream:
        digest.update(stream.read().replace(b"\r\n", b"\n"))
    with io.open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as stream:
        tables = re.split(r"(?m)^(?=\[)", stream.read())
    for table in tables:  # the settings of the test tools do not change what is installed
        if re.match(r"\[(project|build-system|tool\.setuptools)\b", table):
            digest.update(table.encode("utf-8"))
    with io.open(os.path.join(ROOT, "dynlib", "__init__.py"), encoding="utf-8") as stream:
        digest.update(re.search("__version__ = .*", stream.read()).group().encode("utf-8"))
    return {"digest": digest.hexdigest(), "folder": ROOT}


def read_stamp():
    """Return the stamp of the last finished installation, or None."""
    try:
        with io.open(STAMP, encoding="utf-8") as stream:
            return json.loads(stream.read())
    except (OSError, IOError, ValueError):
        return None


def touch(path):
    """Make an empty file."""
    with io.open(path, "w", encoding="utf-8"):
        pass


def remove(path):
    """Remove a file if it is there."""
    if os.path.exists(path):
        os.remove(path)


def create(python):
    """Make an empty .venv with the given Python; one that was there is kept beside it until the new one is finished."""
    print("Making the environment .venv with %s" % python)
    sys.stdout.flush()
    if os.path.isdir(VENV):
        os.rename(VENV, BEFORE)
    os.makedirs(VENV)
    touch(UNFINISHED)
    with io.open(LOG, "wb") as log:
        status = subprocess.call(
            [python, "-m", "venv", VENV], stdout=log, stderr=subprocess.STDOUT, env=clean_environ(), cwd=ROOT
        )
    if status != 0:
        raise Trouble(reason(read_log()))


def settle(finished):
    """Keep the new environment if it is finished, else put back the one before."""
    if not os.path.isdir(BEFORE):
        return
    if finished:
        shutil.rmtree(BEFORE)
        return
    if os.path.exists(LOG):
        shutil.copyfile(LOG, os.path.join(BEFORE, os.path.basename(LOG)))
    if os.path.isdir(VENV):
        shutil.rmtree(VENV)
    os.rename(BEFORE, VENV)


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


def is_whole(stamp):
    """Tell whether nothing of what was installed has been deleted since; what was added does no harm."""
    now = parts()
    return all(now.get(part, 0) >= count for part, count in (stamp or {}).get("parts", {}).items())


def read_log():
    """Return the text of the installation log."""
    with io.open(LOG, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def reason(log):
    """Say in one sentence why an installation failed, from what pip or venv wrote."""
    again = "then run the same command again (the details are in %s)." % LOG_NAME
    if "No space left on device" in log or "not enough space" in log or "Disk quota exceeded" in log:
        return "The disk is full: the environment needs about 1.5 GB; free some space, " + again
    if "Permission denied" in log or "Read-only file system" in log or "Access is denied" in log:
        return "The folder .venv cannot be written: check who owns the course's folder and its disk, " + again
    if "ensurepip" in log:
        return "This Python cannot make virtual environments: install its venv module, " + again
    network = (
        "NewConnectionError",
        "NameResolutionError",
        "ConnectTimeoutError",
        "ReadTimeoutError",
        "ProxyError",
        "SSLError",
        "Max retries exceeded",
        "Failed to establish a new connection",
        "Temporary failure in name resolution",
        "Network is unreachable",
        "Connection broken",
        "Connection refused",
        "connection broken by",
    )
    if any(sign in log for sign in network):
        return "The Python package index cannot be reached: check the network connection (or the proxy), " + again
    errors = [line[7:] for line in log.splitlines() if line.startswith("ERROR: ")]
    return "Installing the packages failed (%s): mend that, " % (errors[-1] if errors else "no message") + again


def install():
    """Install requirements.txt into .venv, showing how far it is."""
    with io.open(os.path.join(ROOT, "requirements.txt"), encoding="utf-8") as stream:
        total = len([line for line in stream if line.strip() and not line.startswith("#")])
    print("Installing %d packages into .venv (the first time: one to five minutes)" % total)
    sys.stdout.flush()
    command = [venv_python(), "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "-r", "requirements.txt"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=clean_environ(), cwd=ROOT
    )
    done = 0
    shown = time.time()
    try:
        with io.open(LOG, "wb") as log:
            for raw in iter(process.stdout.readline, b""):
                log.write(raw)
                log.flush()
                line = raw.decode("utf-8", "replace")
                if re.match(r"(Collecting|Requirement already satisfied:|Obtaining) ", line):
                    done = min(done + 1, total)
                    if time.time() - shown > 5:
                        print("  found %d of %d" % (done, total))
                        shown = time.time()
                elif line.startswith("Installing collected packages"):
                    touch(UNFINISHED)
                    print("  found all, now unpacking")
                sys.stdout.flush()
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if status != 0:
        raise Trouble(reason(read_log()))


def ensure():
    """Return the path of the environment's Python, after making or mending the environment if need be.

    Raises:
        Trouble: with one sentence that says what to do.
    """
    want = wanted()
    try:
        settle(finished=read_stamp() is not None and not os.path.exists(UNFINISHED))  # if an earlier run was killed
        stamp = read_stamp() or {}
        python = venv_python()
        present = os.path.exists(python) and os.path.exists(os.path.join(VENV, "pyvenv.cfg"))
        ready = present and not os.path.exists(UNFINISHED) and is_whole(stamp)
        named = os.environ.get("COURSE_PYTHON", "").strip()
        if ready and named:  # another Python than before?
            other = describe([named])
            if other is None or not OLDEST <= other[0] <= NEWEST:
                find_python()  # raises Trouble
            ready = other[0] == (describe([python]) or [None])[0]
        same = all(stamp.get(key) == value for key, value in want.items())
        if ready and same:
            return python
        if present and not ready and not named:
            print("The environment .venv is not whole; it is made anew.")
        moved = stamp.get("folder", ROOT) != ROOT
        usable = ready and not moved and OLDEST <= (describe([python]) or [(0, 0)])[0] <= NEWEST
        finished = False
        try:
            if not usable or ask([python, "-m", "pip", "--version"]) is None:
                create(find_python())
            install()
            with io.open(STAMP, "w", encoding="utf-8") as stream:
                stream.write(u"%s\n" % json.dumps(dict(want, parts=parts()), sort_keys=True))
            remove(UNFINISHED)
            finished = True
        finally:
            settle(finished)
    except Trouble as trouble:
        if os.path.exists(STAMP) and not os.path.exists(UNFINISHED) and is_whole(read_stamp()):
            raise Trouble("%s What was installed before is kept." % trouble)
        raise
    except (OSError, IOError) as error:
        raise Trouble(
            "The environment .venv could not be written (%s): check the disk and who owns the folder, "
            "then run the same command again." % error
        )
    return python
