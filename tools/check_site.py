"""Check a built site, without a network: every internal link, anchor, picture, script and style leads somewhere.

Also: every picture, in a file or drawn in the page, has alternative text, no page shows a Python traceback (the
examples of the library reference may end in one that is meant), and no page needs another server.
Links to other sites are left alone unless `--external` is given, which asks for each of them once.

Run it as `python -m tools.check_site FOLDER [--external]`.
"""

import argparse
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import lxml.html

LINKS = [("a", "href"), ("link", "href"), ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src")]
LOADED = {"script", "img", "source", "iframe"}  # what a browser fetches by itself, and <link rel="stylesheet">
SKIPPED_SCHEMES = {"mailto", "data", "javascript", "tel"}
AGENT = "Mozilla/5.0 (link check of a course site)"


@cache
def parse(page: Path) -> Any:
    """Return the parsed HTML of a page."""
    return lxml.html.fromstring(page.read_bytes().decode("utf-8"), parser=lxml.html.HTMLParser(encoding="utf-8"))


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return every name that a link into a page may end with."""
    names = {element.get("id") for element in parse(page).iter() if element.get("id")}
    names |= {element.get("name") for element in parse(page).iter("a") if element.get("name")}
    return frozenset(names)


def is_loaded(element: Any) -> bool:
    """Tell whether a browser fetches an element's target by itself."""
    return element.tag in LOADED or (element.tag == "link" and "stylesheet" in (element.get("rel") or ""))


def is_ours(element: Any) -> bool:
    """Tell whether a link is checked: addresses that only name the page itself for robots are not."""
    return not (element.tag == "link" and element.get("rel") in ("canonical", "preconnect", "dns-prefetch"))


def problem_with(page: Path, site: Path, target: str, loaded: bool) -> str:
    """Say what is wrong with one link; empty if nothing is.

    Args:
        page: The page that holds the link.
        site: Folder of the site.
        target: The link as it is written.
        loaded: Whether a browser fetches it by itself.
    """
    parts = urlsplit(target)
    if parts.scheme in SKIPPED_SCHEMES:
        return ""
    if parts.scheme or parts.netloc:
        return "is loaded from another server" if loaded else ""
    if parts.path.startswith("/"):
        return "starts at the server's root, which is not where the site will be"
    file = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if file.is_dir():
        file /= "index.html"
    if not file.is_relative_to(site):
        return "leads out of the site"
    if not file.is_file():
        return "leads to no file"
    fragment = unquote(parts.fragment)
    if fragment and file.suffix == ".html" and fragment not in anchors(file):
        return "names an anchor that its page does not have"
    return ""


def problems_on(page: Path, site: Path) -> Iterator[str]:
    """Yield what is wrong on one page, a line each."""
    document = parse(page)
    for tag, attribute in LINKS:
        for element in document.iter(tag):
            target = element.get(attribute)
            if target is None or not is_ours(element):
                continue
            if not target.strip() or (target == "#" and tag == "a"):
                continue  # buttons of the theme
            problem = problem_with(page, site, target.strip(), is_loaded(element))
            if problem:
                yield f"<{tag} {attribute}={target!r}> {problem}"
    for image in document.iter("img"):
        if not (image.get("alt") or "").strip():
            yield f"<img src={image.get('src')!r}> has no alternative text"
    for number, drawing in enumerate(document.xpath("//svg[not(ancestor::svg)]"), start=1):
        named = drawing.get("role") == "img" and (drawing.get("aria-label") or "").strip()
        if not named and not drawing.xpath("ancestor-or-self::*[self::button or self::a or @aria-hidden='true']"):
            yield f"<svg> number {number} has no alternative text"
    shown = document.xpath("//article//text()[not(ancestor::div[contains(@class, 'doctest')])]")
    if "Traceback (most recent call last)" in "".join(shown):
        yield "shows a Python traceback"


def check(site: Path) -> list[str]:
    """Check all pages of a site.

    Args:
        site: Folder with the built HTML.

    Returns:
        One line for each problem: page, target, what is wrong.
    """
    site = site.resolve()
    pages = sorted(path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)
    if not pages:
        return [f"{site} holds no page"]
    return [f"{page.relative_to(site).as_posix()}: {problem}" for page in pages for problem in problems_on(page, site)]


def external_links(site: Path) -> dict[str, str]:
    """Return each link to another site, with a page that holds it."""
    found: dict[str, str] = {}
    for page in sorted(site.rglob("*.html")):
        if "_static" in page.relative_to(site).parts:
            continue
        for element in parse(page).xpath("//article//a[@href]"):
            if urlsplit(element.get("href")).scheme in ("http", "https"):
                found.setdefault(element.get("href").split("#")[0], page.relative_to(site).as_posix())
    return found


def check_external(site: Path) -> list[str]:
    """Ask for every page outside the site that the site links to; return one line for each that is gone."""
    problems = []
    for url, page in sorted(external_links(site.resolve()).items()):
        try:
            request = urllib.request.Request(url, headers={"User-Agent": AGENT})
            urllib.request.urlopen(request, timeout=30).close()
        except urllib.error.HTTPError as error:
            if error.code in (404, 410):  # others, such as 403 and 429, only mean that robots are not welcome
                problems.append(f"{page}: {url} is gone ({error.code})")
        except (OSError, ValueError) as error:
            problems.append(f"{page}: {url} cannot be reached ({error})")
    return problems


def main() -> int:
    """Check the site named on the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Check the links of a built site.")
    parser.add_argument("site", type=Path)
    parser.add_argument("--external", action="store_true", help="also ask for the linked pages of other sites")
    options = parser.parse_args()
    problems = check(options.site)
    if options.external:
        problems += check_external(options.site)
    for line in problems:
        print(line)
    count = len(list(options.site.rglob("*.html")))
    print(f"{count} pages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
