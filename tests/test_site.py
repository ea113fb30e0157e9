"""The site: where its buttons point, what its pictures say, and that the link check finds what is wrong.

The whole book is built and checked by `make test`; here a book of two pages is built with the same settings.
"""

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import lxml.html
import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from dynlib.figures import PALETTE
from tools import check_site
from tools.files import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from page_figures import colours_of, in_page, style_sheet, title_of
from repository_links import Repository, find_repository, web_address

SVG = """<?xml version="1.0" encoding="utf-8"?>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20" height="10">
<title>An arm with angle θ₁ &lt; 3 &amp; "level"</title>
<g class="ground"><path d="M 0 0 L 20 0" style="fill: #ffffff"/></g>
<defs><path id="dot" d="M 0 0 L 1 1"/><clipPath id="window"><path d="M 0 0 L 9 9 L 0 9"/></clipPath></defs>
<path d="M 0 0 L 20 10" clip-path="url(#window)" style="fill: none; stroke: #4d4d4d"/>
<use xlink:href="#dot" style="fill: #c42f3c; stroke-opacity: 0.5"/></svg>
"""
ALT = 'An arm with angle θ₁ < 3 & "level"'
JOB = ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "GITHUB_REF_NAME", "GITHUB_BASE_REF")
OTHER_SERVER = re.compile(r"(?:https?:)?//(?!www\.w3\.org)[\w.-]+\.\w+[^\s\"'<)]*")


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def chapter():
    """Return a chapter with a formula, a formula in an output and twice the same figure."""
    cell = new_code_cell("figure()", id="figure", execution_count=1)
    cell.outputs = [
        *[new_output("display_data", data={"image/svg+xml": SVG, "text/plain": "<Figure>"}) for _ in range(2)],
        new_output("display_data", data={"text/markdown": r"$$\frac{a}{b}$$", "text/plain": "a/b"}),
    ]
    notebook = new_notebook(cells=[new_markdown_cell("# Chapter\n\n$$x^2$$", id="title"), cell])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return notebook


def small_book(folder, url="", more=()):
    """Write a book of two pages, or more chapters, with the settings of the course."""
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert settings.count('  url: ""') == 1, "_config.yml names a repository; it is shipped without"
    (folder / "_config.yml").write_text(settings.replace('  url: ""', f'  url: "{url}"'), encoding="utf-8")
    chapters = {"chapter": chapter(), **dict(more)}
    contents = "format: jb-book\nroot: book/welcome\nchapters:\n"
    contents += "".join(f"  - file: book/{name}\n" for name in chapters)
    (folder / "_toc.yml").write_text(contents, encoding="utf-8")
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / name, folder / "book" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    (folder / "book" / "welcome.md").write_text("# Welcome\n\nTo the [chapter](chapter).\n", encoding="utf-8")
    for name, notebook in chapters.items():
        (folder / "book" / f"{name}.ipynb").write_text(nbformat.writes(notebook), encoding="utf-8")


def try_to_build(folder, **variables):
    """Build the small book; return the finished process with what it says."""
    environ = {name: value for name, value in os.environ.items() if name not in JOB} | variables
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", ".", "-W", "-n", "--keep-going", "-q"]
    return subprocess.run(
        command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )


def build(folder, **variables):
    """Build the small book; return the folder of the site."""
    done = try_to_build(folder, **variables)
    assert done.returncode == 0, done.stdout
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the small book's site."""
    folder = tmp_path_factory.mktemp("small")
    small_book(folder)
    return build(folder)


def text_of(site):
    """Return the text of all pages."""
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    assert pages
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def other_servers(site):
    return set(OTHER_SERVER.findall(text_of(site)))


def test_without_a_repository_the_pages_have_no_such_buttons(site):
    assert other_servers(site) == set()
    for word in ("github", "binder", "executablebooks", "/edit/", "/issues/"):
        assert word not in re.sub(r"_static/[\w./-]*", "", text_of(site)).lower(), word
    assert check_site.check(site) == []


def test_buttons_point_at_the_copy_that_the_job_publishes(tmp_path):
    small_book(tmp_path, url="https://github.com/owner-in-settings/course")
    git(tmp_path, "init", "-b", "local")
    git(tmp_path, "remote", "add", "origin", "https://github.com/owner-of-remote/course.git")
    site = build(
        tmp_path,
        GITHUB_REPOSITORY="owner-of-fork/dynamics",
        GITHUB_SERVER_URL="https://github.com",
        GITHUB_REF_NAME="main",
    )
    assert {link.split("?")[0] for link in other_servers(site)} == {
        "https://github.com/owner-of-fork/dynamics",
        "https://github.com/owner-of-fork/dynamics/edit/main/book/welcome.md",
        "https://github.com/owner-of-fork/dynamics/edit/main/book/chapter.ipynb",
        "https://github.com/owner-of-fork/dynamics/issues/new",
        "https://mybinder.org/v2/gh/owner-of-fork/dynamics/main",
    }
    assert "urlpath=lab/tree/book/chapter.ipynb" in text_of(site)


def test_buttons_point_at_the_git_remote(tmp_path):
    small_book(tmp_path)
    git(tmp_path, "init", "-b", "spring")
    git(tmp_path, "remote", "add", "origin", "git@gitlab.com:group-of-remote/course.git")
    site = build(tmp_path)
    links = {link.split("?")[0] for link in other_servers(site)}
    assert links
    starts = ("https://gitlab.com/group-of-remote/course", "https://mybinder.org/v2/gl/group-of-remote%2Fcourse/spring")
    assert all(link.startswith(starts) for link in links), links
    assert "https://gitlab.com/group-of-remote/course/-/edit/spring/book/chapter.ipynb" in links


def test_figures_and_formulas_reach_the_page(site):
    page = lxml.html.fromstring((site / "book" / "chapter.html").read_text(encoding="utf-8"))
    figures = page.xpath("//article//figure[@class='drawing']/svg")
    assert [(each.get("role"), each.get("aria-label")) for each in figures] == [("img", ALT)] * 2
    names = [each.get("id") for figure in figures for each in figure.iter() if each.get("id")]
    assert len(set(names)) == len(names) == 4
    used = [each.get("href") for figure in figures for each in figure.iter("use")]
    assert [name.removeprefix("#") in names for name in used] == [True, True]
    assert re.findall(r"#[0-9a-f]{6}", "".join(str(each.attrib) for figure in figures for each in figure.iter())) == []
    sheet = (site / "_static" / "figures.css").read_text(encoding="utf-8")
    assert sheet == style_sheet()
    assert "figures.css" in {link.get("href").split("/")[-1] for link in page.xpath("//link[@rel='stylesheet']")}
    formulas = [formula.text_content() for formula in page.xpath("//article//div[contains(@class, 'math')]")]
    assert any("x^2" in formula for formula in formulas)
    assert any(r"\frac{a}{b}" in formula for formula in formulas), "a formula in an output is not shown as one"
    scripts = [script.get("src") for script in page.xpath("//script[@src]")]
    assert any("mathjax" in script for script in scripts)


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/owner/name", "https://github.com/owner/name"),
        ("https://github.com/owner/name.git/", "https://github.com/owner/name"),
        ("https://user:secret@github.com/owner/name.git", "https://github.com/owner/name"),
        ("git@github.com:owner/name.git", "https://github.com/owner/name"),
        ("ssh://git@gitlab.com:22/group/part/name.git", "https://gitlab.com/group/part/name"),
        ("https://gitlab.school.example:8443/group/name", "https://gitlab.school.example:8443/group/name"),
        ("/srv/git/name.git", None),
        ("../name", None),
        ("file:///srv/git/name.git", None),
        ("C:\\git\\name", None),
        ("C:/git/name", None),
        ("https://github.com", None),
        ("", None),
    ],
)
def test_web_address_of_a_remote(remote, address):
    assert web_address(remote) == address


def test_a_pull_request_leads_to_the_branch_it_is_meant_for(tmp_path):
    job = {"GITHUB_REPOSITORY": "owner/name", "GITHUB_REF_NAME": "7/merge", "GITHUB_BASE_REF": "main"}
    expected = Repository("https://github.com/owner/name", "main", "github")
    assert find_repository(tmp_path, environ=job) == expected


def test_settings_count_when_nothing_else_is_known(tmp_path):
    url = "https://github.com/owner/name"
    assert find_repository(tmp_path, url, "", {}) == Repository(url, "main", "github")
    assert find_repository(tmp_path, url, "next", {}) == Repository(url, "next", "github")
    assert find_repository(tmp_path, environ={}) is None


def test_a_repository_around_the_course_does_not_count(tmp_path):
    git(tmp_path, "init")
    git(tmp_path, "remote", "add", "origin", "https://github.com/owner/all-my-files")
    inner = tmp_path / "course"
    inner.mkdir()
    assert find_repository(inner, environ={}) is None


WRONG = {
    "other": (SVG.replace("#c42f3c", "#c42f3d"), "colours that have no value for dark pages, #c42f3d"),
    "named": (SVG.replace("fill: #c42f3c", "fill: red"), "colours that have no value for dark pages, red"),
    "untitled": (re.sub("<title>.*</title>", "", SVG), "a figure has no alternative text"),
    "blank": (re.sub("<title>.*</title>", "<title> </title>", SVG), "a figure has no alternative text"),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """Build a book with one good chapter and a chapter for each wrong figure; return what is said of each chapter."""
    folder = tmp_path_factory.mktemp("wrong")
    more = {name: chapter() for name in WRONG}
    for name, notebook in more.items():
        notebook.cells[1].outputs[0].data["image/svg+xml"] = WRONG[name][0]
    small_book(folder, more=more)
    done = try_to_build(folder)
    assert done.returncode != 0, done.stdout
    said = re.findall(r"book/(\w+)\.\w+:\d*: (?:WARNING|ERROR): (.*)", done.stdout)
    return {name: [words for page, words in said if page == name] for name in ("chapter", *WRONG)}, done.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_figure_that_would_not_be_seen_is_an_error(complaints, name):
    said, output = complaints
    assert said["chapter"] == [], output
    assert len(said[name]) == 1, output
    assert WRONG[name][1] in said[name][0]


def test_each_colour_of_a_figure_has_two_values():
    light, dark = style_sheet().splitlines()
    for name, (on_white, on_dark) in PALETTE.items():
        assert f"--figure-{name}: {on_white};" in light
        assert f"--figure-{name}: {on_dark};" in dark
        assert f"fill: var(--figure-{name})" in in_page(SVG.replace("#c42f3c", on_white), "a-")
    assert dark.startswith("@media screen"), "on paper the ground is white"


def test_colours_of_a_figure():
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><path style="fill:RED;stroke: #123456" stroke="blue"/></svg>'
    assert colours_of(ElementTree.fromstring(svg)) == {"RED", "#123456", "blue"}


def test_title_of_a_figure():
    assert title_of(SVG) == ALT
    assert title_of('<svg xmlns="http://www.w3.org/2000/svg"/>') == ""


PAGE = """<!DOCTYPE html><html><head><link rel="stylesheet" href="style.css"><script src="run.js"></script></head>
<body><article><h1 id="top">Page</h1><a href="#top">here</a> <a href="other.html#place">there</a>
<img src="arm.svg" alt="An arm"><a href="https://example.org/">elsewhere</a>{}</article></body></html>"""


@pytest.mark.parametrize(
    ("added", "complaint"),
    [
        ("", None),
        ('<a href="missing.html">x</a>', "leads to no file"),
        ('<a href="other.html#nowhere">x</a>', "names an anchor"),
        ('<a href="#nowhere">x</a>', "names an anchor"),
        ('<a href="/other.html">x</a>', "server's root"),
        ('<a href="../other.html">x</a>', "leads out of the site"),
        ('<img src="missing.svg" alt="x">', "leads to no file"),
        ('<img src="arm.svg" alt=" ">', "no alternative text"),
        ('<img src="arm.svg">', "no alternative text"),
        ('<svg role="img" aria-label="An arm"><g><svg/></g></svg>', None),
        ('<svg role="img" aria-label=" "></svg>', "no alternative text"),
        ('<svg role="img"></svg>', "no alternative text"),
        ('<svg aria-label="An arm"></svg>', "no alternative text"),
        ("<svg></svg>", "no alternative text"),
        ("<button>Copy <svg></svg></button>", None),
        ('<span aria-hidden="true"><svg></svg></span>', None),
        ('<svg aria-hidden="true"></svg>', None),
        ('<script src="https://cdn.example.org/mathjax.js"></script>', "from another server"),
        ('<link rel="stylesheet" href="//fonts.example.org/a.css">', "from another server"),
        ("<pre>Traceback (most recent call last):</pre>", "traceback"),
        ("<p>It ends in <code>Traceback (most</code> recent call last)</p>", "traceback"),
        ('<div class="doctest"><pre>&gt;&gt;&gt; f()\nTraceback (most recent call last):</pre></div>', None),
    ],
)
def test_link_check_finds_what_is_wrong(tmp_path, added, complaint):
    for name in ("style.css", "run.js", "arm.svg"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "other.html").write_text("<html><body><p id='place'>There</p></body></html>", encoding="utf-8")
    (tmp_path / "index.html").write_text(PAGE.format(added), encoding="utf-8")
    problems = check_site.check(tmp_path)
    if complaint is None:
        assert problems == []
    else:
        assert len(problems) == 1
        assert problems[0].startswith("index.html: ")
        assert complaint in problems[0]


def test_link_check_refuses_an_empty_site(tmp_path):
    assert check_site.check(tmp_path) != []
