"""The finished pages in a browser, as readers meet them; `make test` builds the site before it runs these."""

import re
from collections import Counter

import lxml.html
import pytest
from browser import chromium, served

from dynlib import lines
from tools.files import ROOT, pages_in_toc
from tools.test import CHECKED_SITE

SITE = CHECKED_SITE / "_build" / "html"
PAGES = pages_in_toc()
REFERENCE = [page for page in PAGES if page.startswith("book/api/")]
LOOKED_AT = [page for page in PAGES if page not in REFERENCE] + REFERENCE[:3]  # pages of one make: three stand for all
SOME = ["conventions", "lagrange", "linkages", "errata", "your_own_arm", "api", "api/arrays"]  # each kind of page
RULES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}  # new rules of axe are off at first

pytestmark = pytest.mark.skipif(not SITE.exists(), reason="the site is not built: python -m tools.test --only build")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def site():
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="module")
def context(browser):
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context):
    made = context.new_page()
    yield made
    made.close()


def html_of(name):
    return lxml.html.fromstring((SITE / f"{name}.html").read_bytes())


def with_formulas(name):
    return bool(html_of(name).xpath("//*[self::span or self::div][contains(concat(' ', @class, ' '), ' math ')]"))


# ---- Without a browser -------------------------------------------------------------------------------


def test_each_page_has_a_description_of_its_own():
    found = {name: html_of(name).xpath("string(//meta[@name='description']/@content)") for name in PAGES}
    assert {name: text for name, text in found.items() if not 20 <= len(text) <= 160} == {}
    assert [text for text, count in Counter(found.values()).items() if count > 1] == []
    assert {name: text for name, text in found.items() if re.search(r"[\\{}$]| [.,;]", text)} == {}


def test_formulas_are_set_only_where_there_are_any():
    for name in PAGES:
        scripts = html_of(name).xpath("//script/@src")
        assert any("mathjax" in script for script in scripts) == with_formulas(name), name
    assert not with_formulas("book/welcome")
    assert with_formulas("book/newton_euler")


def test_no_page_loads_all_icons_there_are():
    assert list(SITE.rglob("fontawesome.js*")) == []
    assert (SITE / "_static" / "icons.css").stat().st_size < 30_000
    for name in PAGES:
        assert not [script for script in html_of(name).xpath("//script/@src") if "fontawesome" in script], name


def test_the_conventions_lead_on_to_the_first_chapter():
    (after,) = html_of("book/conventions").xpath("//a[@class='right-next']/@href")
    last = html_of("book/conventions").xpath("//article//p[starts-with(normalize-space(), 'Next:')]//a/@href")
    assert after == "frames.html"
    assert last == ["frames.html"]


# ---- In the browser ----------------------------------------------------------------------------------


def test_nothing_is_missing_and_nothing_complains(page, site):
    wrong = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    page.on("request", lambda asked: wrong.append(asked.url) if not asked.url.startswith((site, "data:")) else None)
    for name in [*LOOKED_AT, "search", "genindex"]:
        page.goto(f"{site}/{name}.html", wait_until="load")
    assert wrong == []


# What stands out of its box where nothing scrolls to it: the ways from an element up to the page are followed.
OPEN = """() => {
  document.querySelectorAll("article details").forEach(each => each.setAttribute("open", ""));
  document.querySelectorAll("button.toggle-button-hidden").forEach(each => each.click());
}"""
OUT_OF_REACH = """() => {
  const scrolls = style => ["auto", "scroll"].includes(style.overflowX);
  const wrong = [];
  for (const part of document.querySelectorAll(
      "article mjx-container, article pre, article table, article img, article code")) {
    if (!part.checkVisibility() || part.closest("mjx-assistive-mml, .headerlink")) continue;
    let box = part.getBoundingClientRect(), [left, right] = [box.left, box.right];
    for (let outer = part.parentElement; outer; outer = outer.parentElement) {
      const style = getComputedStyle(outer), around = outer.getBoundingClientRect();
      if (style.overflowX === "visible") continue;
      const start = left - around.left + outer.scrollLeft;
      const reach = scrolls(style) ? outer.scrollWidth : outer.clientWidth;
      if (start < -2 || start + right - left > reach + 2) {
        wrong.push([part.tagName, part.textContent.slice(0, 60)]);
        break;
      }
      [left, right] = [around.left, around.right];
    }
    if (right > innerWidth + 2 || left < -2) wrong.push([part.tagName, part.textContent.slice(0, 60), "page"]);
  }
  return wrong;
}"""
WIDTHS = [360, 390, 768, 1280, 1920]


def out_of_reach(page, site, names, widths):
    """Return what cannot be reached on some pages, by page and width, with everything open."""
    found = {}
    for name in names:
        page.goto(f"{site}/{name}.html", wait_until="load")
        if with_formulas(name):
            page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
            page.evaluate("MathJax.startup.promise")
        for width in widths:
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(OPEN)
            page.wait_for_timeout(500)  # side bars slide
            if wrong := page.evaluate(OUT_OF_REACH):
                found[f"{name} at {width}"] = wrong[:5]
    return found


def test_everything_is_in_reach(page, site):
    assert out_of_reach(page, site, ["book/newton_euler", "book/your_own_arm", "book/equations"], [390, 1280]) == {}


@pytest.mark.slow
def test_everything_is_in_reach_on_all_pages(page, site):
    assert out_of_reach(page, site, LOOKED_AT, WIDTHS) == {}
    assert out_of_reach(page, site, REFERENCE, WIDTHS[:1]) == {}


WIDE_FORMULAS = """() => [...MathJax.startup.document.math].flatMap(({math, display, typesetRoot: shown}) => {
  const letters = [...shown.querySelectorAll("mjx-c, mjx-line")].map(each => each.getBoundingClientRect());
  const seen = letters.filter(each => each.width);
  const width = Math.max(...seen.map(each => each.right)) - Math.min(...seen.map(each => each.left));
  const column = shown.closest("p, li, dd, div");
  if (!seen.length || shown.closest("table")) return [];
  return [{math, display, width, room: column.clientWidth, em: parseFloat(getComputedStyle(shown).fontSize)}];
})"""


def formulas(page, site, width):
    """Yield each formula of all pages with its width, the room that it has and the size of its letters, in pixels."""
    page.set_viewport_size({"width": width, "height": 900})
    for name in filter(with_formulas, PAGES):
        page.goto(f"{site}/{name}.html", wait_until="load")
        page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
        page.evaluate("MathJax.startup.promise")
        page.evaluate(OPEN)
        page.wait_for_timeout(200)
        yield from ({"page": name, **each} for each in page.evaluate(WIDE_FORMULAS))


@pytest.mark.slow
def test_no_formula_is_wider_than_its_column_on_a_laptop_and_their_widths_are_known(page, site):
    found = list(formulas(page, site, 1280))
    assert [(each["page"], each["math"][:80]) for each in found if each["width"] > each["room"] + 1] == []
    printed = [each for each in found if re.fullmatch(r"\s*[^&]*\\mathrm\{[sc]\}[^&]*", each["math"])]
    ratios = [lines.ems(each["math"]) * each["em"] / each["width"] for each in printed]
    assert len(ratios) > 20
    assert min(ratios) > 0.9
    assert max(ratios) < 1.1


@pytest.mark.slow
def test_no_formula_in_a_sentence_is_wider_than_a_phone(page, site):
    found = [each for each in formulas(page, site, 360) if not each["display"]]
    assert len(found) > 500
    assert [(each["page"], each["math"][:80]) for each in found if each["width"] > each["room"]] == []


@pytest.mark.slow
def test_printed_sentences_break_at_the_edge_of_a_phone(page, site):
    page.set_viewport_size({"width": 360, "height": 900})
    too_wide = """() => [...document.querySelectorAll(".cell_output .sentences pre")]
        .filter(each => each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)
        .map(each => each.textContent.slice(0, 80))"""
    for name in LOOKED_AT:
        page.goto(f"{site}/{name}.html", wait_until="load")
        page.evaluate(OPEN)
        assert page.evaluate(too_wide) == [], name
    page.goto(f"{site}/book/your_own_arm.html", wait_until="load")
    broken = page.locator(".cell_output .sentences pre", has_text="no convention")
    assert broken.evaluate("each => getComputedStyle(each).whiteSpace") == "pre-wrap"
    table = page.locator(".cell_output pre", has_text="revolute").first
    assert table.evaluate("each => getComputedStyle(each).whiteSpace") == "pre"


def faults(page, site, theme, names):
    """Return what axe finds on some pages, by page and rule."""
    from axe_playwright_python.sync_playwright import Axe

    page.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}');")
    found = {}
    for name in names:
        page.goto(f"{site}/book/{name}.html", wait_until="load")
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        for violation in Axe().run(page, options=RULES).response["violations"]:
            found[f"{name}: {violation['id']}"] = [node["html"][:120] for node in violation["nodes"]][:3]
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readers_with_a_screen_reader_find_their_way(page, site, theme):
    assert faults(page, site, theme, ["welcome", "bibliography"]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readers_with_a_screen_reader_find_their_way_on_each_kind_of_page(page, site, theme):
    assert faults(page, site, theme, SOME) == {}


def test_every_icon_is_drawn(page, site):
    page.goto(f"{site}/book/newton_euler.html", wait_until="load")
    pictures = page.eval_on_selector_all(
        "i[class*='fa-']", "found => found.map(each => [each.className, getComputedStyle(each).maskImage])"
    )
    assert len(pictures) > 5
    assert [name for name, picture in pictures if not picture.startswith('url("data:image/svg+xml')] == []


def test_on_paper_everything_stands_open(page, site):
    hidden = """() => [...document.querySelectorAll("article details > :not(summary), article .admonition > *")]
        .filter(each => !each.checkVisibility({visibilityProperty: true}))
        .map(each => each.outerHTML.slice(0, 120))"""
    for name in ("book/newton_euler", "book/lagrange"):
        page.goto(f"{site}/{name}.html", wait_until="load")
        before = page.evaluate(hidden)
        assert len(before) > 5, "answers and outputs are folded on the screen"
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(hidden) == []
        page.emulate_media(media="screen")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(hidden) == before


def test_the_search_knows_the_chapters():
    listed = re.findall(r'^  "(\w+)",$', (ROOT / "book/_static/scorer.js").read_text(encoding="utf-8"), re.M)
    assert [f"book/{name}" for name in listed] == [page for page in PAGES if (ROOT / f"{page}.ipynb").exists()][1:]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("Jacobian", "velocity"),
        ("jacobian", "velocity"),
        ("regressor", "structure"),
        ("Coriolis", "acceleration"),
        ("Christoffel", "structure"),
        ("four-bar", "linkages"),
        ("DH table", "frames"),
    ],
)
def test_a_search_finds_the_chapter_first(page, site, words, first):
    page.goto(f"{site}/search.html?q={words}", wait_until="load")
    page.wait_for_function("document.querySelector('#search-results .search-summary')?.textContent.includes('found')")
    page.wait_for_selector("#search-results li a")
    results = page.eval_on_selector_all("#search-results li a", "found => found.map(each => each.getAttribute('href'))")
    assert results[0].partition("book/")[2].partition(".html")[0] == first, results[:5]
