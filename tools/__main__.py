# -*- coding: utf-8 -*-
"""Run a command of the course: `python -m tools book`, `python -m tools test`, ...

Makes the environment `.venv` first if need be, then runs the command inside it, so that it does not
matter which Python starts this file. Like setup_env.py it keeps to syntax that every Python reads.
"""

from __future__ import print_function

import os
import shutil
import subprocess
import sys

if sys.version_info < (3,):
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tools import setup_env, turn  # noqa: E402

COMMANDS = [
    ("book", "tools.book", "build the site and say which page to open"),
    ("lab", "tools.lab", "open the chapters as notebooks in JupyterLab"),
    ("test", "tools.test", "check everything that must hold (five to twelve minutes)"),
    ("test-slow", "tools.test_slow", "run the checks that take longer"),
    ("notebooks", "tools.notebooks", "run all chapters again and store their outputs"),
    ("requirements", "tools.requirements", "renew requirements.txt within the ranges of pyproject.toml"),
    ("env", None, "only make or mend the environment .venv"),
    ("clean", None, "remove what was built; the environment .venv stays"),
]
STAYS_OPEN = "lab"  # does not keep other commands waiting
MADE = ["_build", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache", ".hypothesis"]


def usage():
    """Print the commands."""
    print("Usage: make COMMAND, or without make: python -m tools COMMAND\n")
    for name, _, what in COMMANDS:
        print("  %-14s%s" % (name, what))
    print("\nWhat follows the name goes to the command: python -m tools lab --no-browser --port 9000")
    print("Another Python: make COMMAND PYTHON=python3.12, or python3.12 -m tools COMMAND")


def clean():
    """Remove everything that the other commands made, except the environment."""
    for name in MADE:
        path = os.path.join(setup_env.ROOT, name)
        if os.path.isdir(path):
            print("removing %s" % name)
            shutil.rmtree(path)
    for folder, names, _ in os.walk(setup_env.ROOT):
        names[:] = [name for name in names if name not in (".git", ".venv")]
        for name in list(names):
            if name in ("__pycache__", ".ipynb_checkpoints"):
                shutil.rmtree(os.path.join(folder, name))
                names.remove(name)


def until_closed(command):
    """Run a command that ends by itself when the reader presses Ctrl+C; return its exit code."""
    process = subprocess.Popen(command, cwd=setup_env.ROOT, env=setup_env.clean_environ())
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            pass


def main(arguments):
    """Run one command; return its exit code."""
    name = arguments[0] if arguments else "help"
    if name in ("help", "-h", "--help"):
        usage()
        return 0
    modules = dict((command, module) for command, module, _ in COMMANDS)
    if name not in modules:
        print("There is no command %r.\n" % name, file=sys.stderr)
        usage()
        return 2
    try:
        with turn.taken():
            if name == "clean":
                clean()
                return 0
            python = setup_env.ensure()
            if modules[name] is None:
                return 0
            command = [python, "-m", modules[name]] + arguments[1:]
            if name != STAYS_OPEN:
                return subprocess.call(command, cwd=setup_env.ROOT, env=setup_env.clean_environ(), close_fds=False)
        return until_closed(command)
    except setup_env.Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except (OSError, IOError) as error:
        print("%s: check the disk and who owns the folder." % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped; the same command starts again.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
