"""Build the site into `_build/html` and say which page to open.

Nothing is built if nothing has changed since the last time. Run it as `make book` or `python -m tools book`.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.files import ROOT, write_text

BUILD = ROOT / "_build"
PAGE = BUILD / "html" / "index.html"
STAMP = BUILD / "site-stamp.json"
# What shapes every page; a change there builds all pages again.
COMMON = ["_config.yml", "_toc.yml", "requirements.txt", "book/_ext", "book/_static", "book/references.bib"]
CONTENT = ["book", "dynlib"]


def digest(names: list[str], *extra: str) -> str:
    """Return a hash of files and folders, given relative to the course's folder."""
    total = hashlib.sha256()
    for name in names:
        path = ROOT / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts and ".ipynb_checkpoints" not in file.parts:
                total.update(file.relative_to(ROOT).as_posix().encode("utf-8") + b"\0")
                total.update(file.read_bytes())
    for text in extra:
        total.update(text.encode("utf-8") + b"\0")
    return total.hexdigest()


def published_from() -> str:
    """Return what the buttons of the site depend on besides the files."""
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    from repository_links import find_repository

    return str(find_repository(ROOT))


def sphinx(*options: str) -> subprocess.CompletedProcess[str]:
    """Run Jupyter Book on the course; return the finished process with all its output."""
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", ".", *options]
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )
    done.stdout = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)  # colours, which Sphinx writes into pipes as well
    return done


def warnings_in(output: str) -> list[str]:
    """Return the lines of a build's output that say that something is wrong."""
    return [line for line in output.splitlines() if "WARNING:" in line or "ERROR:" in line]


def main() -> int:
    """Build the site; return the exit code."""
    now = {"common": digest(COMMON, published_from()), "content": digest(CONTENT)}
    try:
        before = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = {}
    if before == now and PAGE.exists():
        print("The site is up to date.")
    else:
        print("Building the site ...", flush=True)
        start = time.monotonic()
        options = ["--quiet"] if before.get("common") == now["common"] else ["--quiet", "--all"]
        STAMP.unlink(missing_ok=True)  # from here on the pages are of no known state, should the build be killed
        done = sphinx(*options)
        if done.returncode or not PAGE.exists():
            print(done.stdout)
            print("The site could not be built; the lines above say why.", file=sys.stderr)
            return 1
        for line in warnings_in(done.stdout):
            print(line)
        write_text(BUILD / "html" / ".nojekyll", "")  # else GitHub Pages leaves out _static
        write_text(STAMP, json.dumps(now) + "\n")
        print(f"Built in {time.monotonic() - start:.0f} s.")
    relative = Path(os.path.relpath(PAGE, ROOT))
    print(f"Open {relative} in a browser:\n{PAGE.as_uri()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
