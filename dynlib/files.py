"""Reading and writing files: only files, whole or not at all.

Whatever goes wrong is said of the path that was asked for. What is written is UTF-8 with LF line ends.
"""

import contextlib
import os
import re
import stat
import threading
import time
from pathlib import Path

LARGEST = 32 * 2**20
"""Most bytes that a file of an arm may have; real ones have less than a megabyte."""

_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe (FIFO)"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISSOCK, "socket"),
)


def read_bytes(path: str | Path) -> bytes:
    """Read a file of an arm, after a look at what it is.

    Args:
        path: of a file, or of a link to one.

    Returns:
        What the file holds.

    Raises:
        OSError: there is no such file, it cannot be read, or it is a folder, a device or a pipe.
        ValueError: the file is larger than :data:`LARGEST`.

    >>> read_bytes(".")
    Traceback (most recent call last):
    OSError: . is a folder; expected a file.
    """
    found = os.stat(path)
    _refuse_other_kinds(found.st_mode, path)
    data = b""
    if found.st_size <= LARGEST:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)  # it may have grown
    if max(found.st_size, len(data)) > LARGEST:
        raise ValueError(f"{path} holds more than {LARGEST // 2**20} MB; expected the file of an arm.")
    return data


def write_text(path: str | Path, text: str) -> None:
    """Write a text file; if that fails, a file that was there before stays as it was. See :func:`write_bytes`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "arm.txt", "L1")
    ...     [path.name for path in Path(folder).iterdir()]
    ['arm.txt']
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file; if that fails, a file that was there before stays as it was.

    Args:
        path: where to; a file that is there already is replaced and keeps its mode, and a link is followed.
        data: what the file shall hold.

    Raises:
        OSError: the file cannot be written, or what is there is no file or may not be changed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bytes(Path(folder) / "none" / "arm.txt", b"L1")
    Traceback (most recent call last):
    FileNotFoundError: ...arm.txt cannot be written: the folder ...none does not exist.
    """
    refuse_to_write(path)
    target = Path(os.path.realpath(path))
    _remove_left_over(target)
    part = target.with_name(f"{_start_of_parts(target)}{os.getpid()}-{threading.get_ident()}.part")
    try:
        part.write_bytes(data)
        if target.exists():
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        part.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def refuse_to_write(path: str | Path) -> None:
    """Refuse a path at which no file can be written; to be asked before a long computation, too.

    Args:
        path: where a file shall be written.

    Raises:
        OSError: the folder does not exist, or what is there is no file or may not be changed.

    >>> refuse_to_write(".")
    Traceback (most recent call last):
    OSError: . is a folder; expected a file.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        folder = Path(os.path.realpath(path) if os.path.islink(path) else path).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"{path} cannot be written: the folder {folder} does not exist.") from None
        return
    _refuse_other_kinds(mode, path)
    if not mode & 0o222 or not os.access(path, os.W_OK):
        raise PermissionError(f"{path} is write-protected; choose another name, or allow writing.")


def _refuse_other_kinds(mode: int, path: str | Path) -> None:
    for is_kind, word in _KINDS:
        if is_kind(mode):
            raise OSError(f"{path} is a {word}; expected a file.")


def _start_of_parts(target: Path) -> str:
    return f".{target.name[:40]}."  # the whole name might become too long


def _remove_left_over(target: Path) -> None:
    """Remove temporary files of writers that were killed."""
    pattern = re.compile(re.escape(_start_of_parts(target)) + r"(\d+)-\d+\.part")
    for path in target.parent.iterdir():
        if found := pattern.fullmatch(path.name):
            with contextlib.suppress(OSError):  # another one may remove it, too
                if not _is_running(int(found[1])) or time.time() - path.stat().st_mtime > 3600:
                    path.unlink()


def _is_running(process: int) -> bool:
    if os.name == "nt":  # where a signal would end it, and where a file in use cannot be removed anyway
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
