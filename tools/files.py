"""Reading and writing files the same way on every system: UTF-8, LF line ends, never half written."""

import re
import subprocess
from pathlib import Path

import yaml

from dynlib.files import write_bytes

ROOT = Path(__file__).resolve().parent.parent
# Folders and files that commands and editors make: most with a leading dot, and these.
MADE = re.compile(
    r"(^|/)(\.(?!ci/|github/|gitignore|gitattributes|pre-commit-config)|_build|__pycache__|[^/]*\.egg-info)"
)


def write_text(path: Path, text: str) -> bool:
    """Write a text file, all of it or nothing; leave a file alone that already holds the text.

    Args:
        path: The file.
        text: What it shall hold.

    Returns:
        Whether the file was written.
    """
    data = text.encode("utf-8")
    if path.exists() and path.read_bytes() == data:
        return False
    write_bytes(path, data)
    return True


def course_files() -> list[Path]:
    """Return the files that belong to the course: those that git tracks or would track."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):  # unpacked from an archive
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
        names = [name for name in names if not MADE.search(name)]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def pages_in_toc(root: Path = ROOT) -> list[str]:
    """Return the pages listed in _toc.yml in reading order, without suffix, such as `book/welcome`."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    pages = [toc["root"]]

    def collect(entry: object) -> None:
        if isinstance(entry, dict):
            if "file" in entry:
                pages.append(entry["file"])
            for value in entry.values():
                collect(value)
        elif isinstance(entry, list):
            for value in entry:
                collect(value)

    collect({key: value for key, value in toc.items() if key not in ("root", "format")})
    return pages


def notebooks_in_toc(root: Path = ROOT) -> list[Path]:
    """Return the notebooks among the pages of _toc.yml, in reading order."""
    paths = [root / f"{page}.ipynb" for page in pages_in_toc(root)]
    return [path for path in paths if path.exists()]
