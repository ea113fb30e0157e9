"""One command at a time in the folder of the course: a second one waits for its turn.

The system itself holds the lock and frees it when the command has ended in whatever way, and what it had started,
too: a killed command may leave a pip behind. The locked file is one that nobody replaces by a newer one, as git does.
Standard library only; like setup_env.py it keeps to syntax that every Python reads.
"""

import errno
import os
import sys
import time
from contextlib import contextmanager

from tools.setup_env import ROOT

LOCKED = os.path.join(ROOT, ".turn")
WAITING = "Another command of the course is working in this folder; this one waits until it has finished."


def try_lock(stream):
    """Lock an open file for this process; return False if another one has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            stream.seek(1 << 30)  # beyond the end, so that everybody can still read the file
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # a disk without locks lets every command pass
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


@contextmanager
def taken(path=LOCKED, pause=0.2):
    """Wait until no other command works in the folder, saying so once, then keep the others out."""
    with open(path, "ab") as stream:
        if os.name != "nt" and hasattr(os, "set_inheritable"):
            os.set_inheritable(stream.fileno(), True)
        if not try_lock(stream):
            print(WAITING)
            sys.stdout.flush()
            while not try_lock(stream):
                time.sleep(pause)
        yield
