"""Writing files: UTF-8 with LF line ends, whole or not at all."""

import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write a text file; if that fails, a file that was there before stays as it was.

    Args:
        path: where to; a file that is there already is replaced.
        text: what the file shall hold.

    Raises:
        OSError: the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "arm.txt", "L1")
    ...     [path.name for path in Path(folder).iterdir()]
    ['arm.txt']
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
