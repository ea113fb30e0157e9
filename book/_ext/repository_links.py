"""Sphinx extension: the repository, edit and Binder buttons point at whoever's copy is being published.

The address comes from, in this order,

1. the job that publishes the site (`GITHUB_SERVER_URL` and `GITHUB_REPOSITORY`),
2. the git remote `origin`,
3. the setting `repository: url:` in `_config.yml`.

If none of them names a repository, the pages have no such buttons.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

logger = logging.getLogger(__name__)

PROVIDERS = ("github", "gitlab", "bitbucket")
# Binder builds its addresses from owner and name for these two only.
BINDER_HOSTS = ("https://github.com", "https://gitlab.com")


class Repository(NamedTuple):
    """Where the published copy of the course lives."""

    url: str
    """Address without a slash at the end, such as `https://github.com/<owner>/<name>`."""
    branch: str
    provider: str
    """One of `github`, `gitlab`, `bitbucket`."""


def web_address(remote: str) -> str | None:
    """Return the web address that belongs to a git remote.

    Args:
        remote: A remote as git stores it: `https://...`, `ssh://...` or `git@host:owner/name.git`.

    Returns:
        The address without user name, password, port of ssh or `.git`; None for a folder or anything else.

    Examples:
        >>> web_address("git@github.com:owner/name.git")
        'https://github.com/owner/name'
        >>> web_address("https://user:secret@gitlab.com/group/name.git")
        'https://gitlab.com/group/name'
        >>> web_address("/srv/git/name.git")
    """
    remote = remote.strip()
    short = re.fullmatch(r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!/)(.+)", remote)
    if short:
        host, path = short.groups()
    else:
        parts = urlsplit(remote)
        if parts.scheme not in ("https", "http", "ssh", "git") or not parts.hostname:
            return None
        host, path = parts.hostname, parts.path
        if parts.scheme in ("https", "http") and parts.port:
            host = f"{host}:{parts.port}"
    path = path.strip("/").removesuffix(".git").strip("/")
    if not re.fullmatch(r"[\w.~-]+(/[\w.~-]+)+", path):
        return None
    return f"https://{host}/{path}"


def provider_of(url: str) -> str | None:
    """Return which kind of service an address belongs to, judged by its host; None if unknown."""
    host = urlsplit(url).hostname or ""
    return next((provider for provider in PROVIDERS if provider in host), None)


def git(folder: Path, *arguments: str) -> str:
    """Return what a git command prints; nothing if git is absent or the command fails."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, encoding="utf-8", check=True)
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
        return ""
    return done.stdout.strip()


def branch_from_job(environ: Mapping[str, str]) -> str:
    """Return the branch that the publishing job works on; for a pull request, the branch it is meant for."""
    if environ.get("GITHUB_BASE_REF"):
        return environ["GITHUB_BASE_REF"]
    return environ.get("GITHUB_REF_NAME", "")


def find_repository(
    folder: Path, url: str = "", branch: str = "", environ: Mapping[str, str] = os.environ
) -> Repository | None:
    """Find the repository that the site is published from.

    Args:
        folder: Folder of the course.
        url: The setting of `_config.yml`, which counts only if nothing else is known.
        branch: The same for the branch.
        environ: Environment variables.

    Returns:
        The repository, or None if no source names one.
    """
    if environ.get("GITHUB_REPOSITORY"):
        server = environ.get("GITHUB_SERVER_URL") or "https://github.com"
        job_url = f"{server.rstrip('/')}/{environ['GITHUB_REPOSITORY']}"
        return Repository(job_url, branch_from_job(environ) or branch or "main", "github")

    top = git(folder, "rev-parse", "--show-toplevel")
    if top and Path(top).resolve() == folder.resolve():  # not a repository that merely contains the course
        address = web_address(git(folder, "remote", "get-url", "origin"))
        provider = provider_of(address) if address else None
        if address and provider:
            current = git(folder, "symbolic-ref", "--short", "HEAD")  # nothing if no branch is checked out
            return Repository(address, current or branch or "main", provider)

    if not url:
        return None
    address = web_address(url)
    provider = provider_of(address) if address else None
    if not address or not provider:
        logger.warning(
            "_config.yml: repository url %r is not understood; expected something like "
            "https://github.com/<owner>/<name>. The pages get no repository buttons.",
            url,
        )
        return None
    return Repository(address, branch or "main", provider)


def set_buttons(app: Sphinx, config: Config) -> None:
    """Fill in the theme's options, or take the buttons away where no repository is known."""
    options: dict[str, Any] = config.html_theme_options
    repository = find_repository(
        Path(app.srcdir), options.get("repository_url") or "", options.get("repository_branch") or ""
    )
    buttons = ("use_repository_button", "use_edit_page_button", "use_issues_button")
    if repository is None:
        options.update(dict.fromkeys(buttons, False))
        options.update(repository_url="", repository_branch="main", launch_buttons={})
        return
    options.update(dict.fromkeys(buttons, True))
    options["use_issues_button"] = repository.provider in ("github", "gitlab")  # all that the theme knows
    options["repository_url"] = repository.url
    options["repository_branch"] = repository.branch
    options["repository_provider"] = repository.provider
    if repository.url.rsplit("/", 2)[0] not in BINDER_HOSTS:
        options["launch_buttons"] = {}


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension; early, before the theme reads its options."""
    app.connect("config-inited", set_buttons, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
