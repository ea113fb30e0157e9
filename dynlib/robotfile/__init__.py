"""Files of arms: read with errors that name file, line and field, and written again.

Arms stand in TOML (:mod:`~dynlib.robotfile.toml`), a form for people, or come from robot descriptions of ROS
(:mod:`~dynlib.robotfile.urdf`).
"""

from dynlib.robotfile.toml import dumps, loads, read, write

__all__ = [
    "dumps",
    "loads",
    "read",
    "write",
]
