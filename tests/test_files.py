"""Files: only files are read and written, whole or not at all, and every message names the path that was asked for."""

import builtins
import contextlib
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dynlib import derivation, figures, files, robotfile, robots
from dynlib.robotfile import urdf

ARM = robots.planar_2r(L1=1, L2=1, m1=1, m2=1, g=9.81)
posix = pytest.mark.skipif(os.name == "nt", reason="there are no such files")

WRITERS = {
    "arm.toml": lambda path: robotfile.write(ARM, path),
    "arm.md": lambda path: derivation.write(ARM, path),
    "arm.svg": lambda path: figures.save(figures.axes()[0], path, alt="Axes."),
    "arm.txt": lambda path: files.write_text(path, "L1\n"),
}
READERS = {
    "robotfile": robotfile.read,
    "urdf": lambda path: urdf.read(path, gravity=[0, 0, -9.81]),
    "files": files.read_bytes,
}


@pytest.fixture(params=WRITERS)
def writer(request, tmp_path, monkeypatch):
    """A name in an empty folder, and what writes a file there."""
    monkeypatch.chdir(tmp_path)
    return request.param, WRITERS[request.param]


@pytest.fixture(params=READERS)
def reader(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return READERS[request.param]


def names(folder: str | Path = ".") -> list[str]:
    return sorted(os.listdir(folder))


def test_a_file_is_written_whole(writer):
    name, write = writer
    write(name)
    assert names() == [name]
    assert b"\r" not in Path(name).read_bytes()
    assert len(Path(name).read_bytes()) > 2


@posix
def test_a_new_file_has_the_usual_rights_and_an_old_one_keeps_its_own(writer):
    name, write = writer
    mask = os.umask(0o027)
    try:
        write(name)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(os.stat(name).st_mode) == 0o640
    os.chmod(name, 0o604)
    write(name)
    assert stat.S_IMODE(os.stat(name).st_mode) == 0o604


@posix
def test_a_link_is_followed(writer):
    name, write = writer
    Path("folder").mkdir()
    Path("folder/target").write_text("old", encoding="utf-8")
    for link, target in ((name, "folder/target"), (f"new-{name}", "folder/none-yet")):
        os.symlink(target, link)
        write(link)
        assert os.path.islink(link)
        assert Path(target).read_bytes() not in (b"", b"old")
    assert names("folder") == ["none-yet", "target"]


def test_a_folder_is_no_file_to_write(writer):
    name, write = writer
    Path(name).mkdir()
    with pytest.raises(OSError, match=f"^{name} is a folder; expected a file.$"):
        write(name)


def test_a_missing_folder_is_named(writer):
    name, write = writer
    with pytest.raises(FileNotFoundError) as error:
        write(Path("no", name))
    assert str(error.value) == f"{Path('no', name)} cannot be written: the folder no does not exist."
    assert names() == []


@posix
def test_a_pipe_a_device_and_a_socket_are_no_files_to_write(writer, tmp_path):
    name, write = writer
    os.mkfifo(name)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"s-{name}")
        os.symlink(os.devnull, f"n-{name}")
        for path, kind in ((name, r"pipe \(FIFO\)"), (f"s-{name}", "socket"), (f"n-{name}", "device")):
            before = os.stat(path)
            with pytest.raises(OSError, match=f"^{path} is a {kind}; expected a file.$"):
                write(path)
            assert os.stat(path).st_ino == before.st_ino


@posix
def test_a_file_that_may_not_be_changed_is_left_alone(writer):
    name, write = writer
    Path(name).write_text("old", encoding="utf-8")
    os.chmod(name, 0o444)
    with pytest.raises(PermissionError, match=f"^{name} is write-protected; choose another name, or allow writing.$"):
        write(name)
    assert Path(name).read_text(encoding="utf-8") == "old"
    assert names() == [name]


@posix
def test_a_full_disk_is_told_of_the_file_that_was_asked_for(writer):
    resource = pytest.importorskip("resource")
    name, write = writer
    Path(name).write_text("old", encoding="utf-8")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limits[1]))
    try:
        with pytest.raises(OSError, match="too large|No space") as error:
            write(name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert error.value.filename == name
    assert ".part" not in str(error.value)
    assert Path(name).read_text(encoding="utf-8") == "old"
    assert names() == [name]


@posix
def test_what_a_killed_writer_left_over_is_removed(writer):
    name, write = writer
    killed = f"""
import os, signal, pathlib
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from dynlib import files
files.write_text({name!r}, "new")
"""
    done = subprocess.run(
        [sys.executable, "-c", killed], env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    )
    assert done.returncode == -signal.SIGKILL
    left_over = names()
    assert [bool(re.fullmatch(rf"\.{name}\.\d+-\d+\.part", left)) for left in left_over] == [True]
    in_use = f".{name}.{os.getpid()}-1.part"
    others = [in_use, f".{name}.part", f".{name}x.1-1.part", f"{name}.bak"]
    for other in others:
        Path(other).touch()
    write(name)
    assert names() == sorted([*others, name])
    os.utime(in_use, (0, 0))  # so old that its number must be another process's by now
    write(name)
    assert in_use not in names()


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    files.write_text(tmp_path / ("a" * 255), "L1")
    assert names(tmp_path) == ["a" * 255]


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.write_text(tmp_path / "arm.txt", "L1")
    assert names(tmp_path) == []


# ---- Reading -------------------------------------------------------------------------------------------


def test_a_folder_is_no_arm(reader):
    Path("arm").mkdir()
    with pytest.raises(OSError, match=r"^arm is a folder; expected a file.$"):
        reader("arm")


def test_a_missing_file_is_named(reader):
    with pytest.raises(FileNotFoundError) as error:
        reader("none.toml")
    assert error.value.filename == "none.toml"


@posix
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_a_device_is_no_arm(reader, device):
    for path in (device, "link"):
        with contextlib.suppress(FileExistsError):
            os.symlink(device, "link")
        with pytest.raises(OSError, match=f"^{path} is a device; expected a file.$"):
            reader(path)


@posix
def test_a_pipe_is_no_arm_and_nobody_waits_for_it(reader):
    os.mkfifo("arm")
    with pytest.raises(OSError, match=r"^arm is a pipe \(FIFO\); expected a file.$"):
        reader("arm")


def test_a_file_of_gigabytes_is_refused_before_it_is_read(reader, monkeypatch):
    with open("arm", "wb") as file:
        file.truncate(8 * 2**30)  # it holds nothing and takes no space
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(ValueError, match=r"^arm holds more than 32 MB; expected the file of an arm.$"):
        reader("arm")


def test_the_largest_file_is_read(tmp_path):
    with open(tmp_path / "arm", "wb") as file:
        file.truncate(files.LARGEST)
    assert len(files.read_bytes(tmp_path / "arm")) == files.LARGEST
    with open(tmp_path / "arm", "ab") as file:
        file.write(b"1")
    with pytest.raises(ValueError, match="holds more than 32 MB"):
        files.read_bytes(tmp_path / "arm")
