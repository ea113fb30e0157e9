"""dynlib beside its peers: each file here is run as `python -m benchmarks.NAME`."""

import importlib.metadata
import platform

import dynlib


def versions(*packages: str) -> str:
    """Return the versions that a result depends on: of dynlib, of the packages named, of Python, and the machine."""
    named = "".join(f", {name} {importlib.metadata.version(name)}" for name in packages)
    return f"Python {platform.python_version()}, dynlib {dynlib.__version__}{named}; {platform.machine()}"
