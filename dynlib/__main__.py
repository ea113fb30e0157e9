"""The command ``python -m dynlib``; what it can do is told by ``python -m dynlib --help``."""

import sys


def main() -> None:
    """Run the command, or say what it needs."""
    try:
        from dynlib import cli
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(f"The command needs the package {error.name}, which is not installed: pip install typer")
    except KeyboardInterrupt:  # before anything was begun; later, the command itself says so
        print("dynlib: interrupted.", file=sys.stderr)
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
