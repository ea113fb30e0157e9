"""The course's commands: `python -m tools help` lists them."""
