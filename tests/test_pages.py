"""The finished pages in a browser, as readers meet them; `make test` builds the site before it runs these."""

import re
from collections import Counter

import lxml.html
import pytest
from browser import chromium, served

from dynlib.algebra import lines
from dynlib.figures import PALETTE
from tools.files import ROOT, pages_in_toc
from tools.test import CHECKED_SITE

SITE = CHECKED_SITE / "_build" / "html"
PAGES = pages_in_toc()
REFERENCE = [page for page in PAGES if page.startswith("book/api/")]
LOOKED_AT = [page for page in PAGES if page not in REFERENCE] + REFERENCE[:3]  # pages of one make: three stand for all
KINDS = "conventions", "lagrange", "linkages", "errata", "your_own_arm"
SOME = [*KINDS, "api", "api/algebra.arrays"]  # each kind of page
RULES = {
    "resultTypes": ["violations"],  # and not each part of a page that is right, which takes as long again
    "rules": {"label-content-name-mismatch": {"enabled": True}},  # new rules of axe are off at first
}

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
      "article mjx-container, article pre, article table, article img, article figure > svg, article code")) {
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


def formulas(page, site, width, names=PAGES):
    """Yield each formula of pages with its width, the room that it has and the size of its letters, in pixels."""
    page.set_viewport_size({"width": width, "height": 900})
    for name in filter(with_formulas, names):
        page.goto(f"{site}/{name}.html", wait_until="load")
        page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
        page.evaluate("MathJax.startup.promise")
        page.evaluate(OPEN)
        page.wait_for_timeout(200)
        yield from ({"page": name, **each} for each in page.evaluate(WIDE_FORMULAS))


def wider_than_the_column(found):
    return [(each["page"], each["math"][:80]) for each in found if each["width"] > each["room"] + 1]


def test_the_widest_formulas_fit_into_the_column_whatever_font_the_text_has(page, site):
    found = list(
        formulas(page, site, 1280, ["book/newton_euler", "book/api/newton_euler", "book/api/linkages.linkage"])
    )
    assert len(found) > 150
    assert wider_than_the_column(found) == []
    assert {each["em"] for each in found if each["display"]} == {1.18 * 16}  # and not by the height of the font


@pytest.mark.slow
def test_no_formula_is_wider_than_its_column_on_a_laptop_and_their_widths_are_known(page, site):
    found = list(formulas(page, site, 1280))
    assert wider_than_the_column(found) == []
    bare = [(re.sub(r"\\(begin|end)\{split\}", "", each["math"]), each) for each in found]  # Sphinx adds it
    printed = [(math, each) for math, each in bare if re.search(r"\\mathrm\{[sc]\}", math) and "align" not in math]
    ratios = [lines.ems(math) * each["em"] / each["width"] for math, each in printed]
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


def drawn(page, site, name, width):
    """Open a page at a width, with its formulas drawn and all its dropdowns open."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{site}/{name}.html", wait_until="load")
    if with_formulas(name):
        page.wait_for_function("window.MathJax?.startup?.promise !== undefined")
        page.evaluate("MathJax.startup.promise")
    page.evaluate(OPEN)
    page.wait_for_timeout(300)


NUMBERED = """() => [...document.querySelectorAll("article mjx-container[display]:has(mjx-labels)")].map(each => {
  const box = each.getBoundingClientRect(), shown = each.querySelector("mjx-table").getBoundingClientRect();
  const number = each.querySelector("mjx-labels mjx-itable").getBoundingClientRect();
  return {
    scrolls: each.scrollWidth > each.clientWidth + 1,
    left: shown.left - box.left,
    off: (shown.left + shown.right - box.left - box.right) / 2,
    beside: number.left - shown.right,
    end: box.right - number.right,
    high: number.top - shown.top,
  };
})"""


def test_a_formula_with_a_number_stands_in_the_middle_if_there_is_room_and_else_begins_at_the_left(page, site):
    drawn(page, site, "book/newton_euler", 1280)
    wide = page.evaluate(NUMBERED)
    assert len(wide) > 20
    assert [each for each in wide if each["scrolls"] or abs(each["end"]) > 1 or each["beside"] < 10] == []
    assert [each for each in wide if abs(each["off"]) > 1 and each["beside"] > 40] == []
    assert [each for each in wide if abs(each["high"]) > 5] == [], "the number is beside the first line"
    drawn(page, site, "book/newton_euler", 390)
    narrow = page.evaluate(NUMBERED)
    assert sum(each["scrolls"] for each in narrow) > 10
    assert [each for each in narrow if each["scrolls"] and each["left"] > 1] == []


@pytest.mark.parametrize("name", ["book/newton_euler", "book/equations"])
def test_a_line_that_goes_on_has_a_space_after_its_sign(page, site, name):
    drawn(page, site, name, 1280)
    first = """() => [...document.querySelectorAll("mjx-mtd mjx-mstyle:has(> mjx-mspace[style*='1em'])")].map(each => {
      do each = each.nextElementSibling;
      while (each?.matches(":is(mjx-mstyle, mjx-texatom):not(:has(mjx-c))"));
      return each;
    }).filter(each => each?.matches("mjx-mo") && each.querySelector(".mjx-c2B, .mjx-c2212"))
        .map(each => each.getAttribute("space"))"""
    spaces = page.evaluate(first)
    assert len(spaces) > 5
    assert set(spaces) == {"3"}


APART = """() => [...document.querySelectorAll("article span.math mjx-container:not([display])")].flatMap(each => {
  const text = each.closest("span.math").nextSibling;
  return text?.nodeType === Node.TEXT_NODE && /^[)\\].,;:!?]/.test(text.data) && !each.closest(".together")
    ? [each.closest("p, li, td, dd")?.textContent.slice(0, 80)] : [];
})"""


def test_a_point_or_a_bracket_never_begins_the_line_after_its_formula(page, site):
    drawn(page, site, "book/frames", 1280)
    assert page.evaluate(APART) == []
    tied = page.eval_on_selector_all(
        "article .together",
        """found => found.filter(each => each.checkVisibility()).map(each => {
          const range = document.createRange();
          range.selectNodeContents(each.lastChild);
          const formula = each.querySelector("mjx-container").getBoundingClientRect();
          const mark = range.getBoundingClientRect();
          return mark.bottom > formula.top && mark.top < formula.bottom;
        })""",
    )
    assert len(tied) > 50
    assert all(tied)


@pytest.mark.parametrize("width", [390, 1280])
def test_names_in_tables_are_not_broken(page, site, width):
    lines_of = """() => [...document.querySelectorAll("article :is(td, th) code")]
        .filter(each => /^[\\w.]+$/.test(each.textContent) && each.getClientRects().length > 1)
        .map(each => each.textContent)"""
    for name in ("book/velocity", "book/structure", "book/motion", "book/closed_chains_dynamics"):
        drawn(page, site, name, width)
        assert page.evaluate(lines_of) == [], name


SCROLLING = """() => [...document.querySelectorAll(
    "article :is(mjx-container, .highlight pre, .cell_output pre, .pst-scrollable-table-container)")]
    .filter(each => each.checkVisibility() && getComputedStyle(each).overflowX === "auto")
    .filter(each => each.scrollWidth > each.clientWidth + 1)"""
FADED = """each => ['.more-before', '.more-after'].map(
    side => each.matches(side) && getComputedStyle(each).maskImage !== 'none')"""


@pytest.mark.parametrize("name", ["book/motion", "book/newton_euler", "book/api/model.robot"])
def test_what_scrolls_fades_out_where_there_is_more(page, site, name):
    drawn(page, site, name, 390)
    assert page.evaluate(f"({SCROLLING})().length") > 5
    faded = page.evaluate(f"({SCROLLING})().map({FADED})")
    assert faded == [[False, True]] * len(faded)
    page.evaluate(f"({SCROLLING})().forEach(each => each.scrollBy(10000, 0))")
    page.wait_for_timeout(300)
    faded = page.evaluate(f"({SCROLLING})().map({FADED})")
    assert faded == [[True, False]] * len(faded)
    page.emulate_media(media="print")
    masks = "[...document.querySelectorAll('article *')].map(each => getComputedStyle(each).maskImage)"
    assert [mask for mask in page.evaluate(masks) if "rgba(0, 0, 0, 0)" in mask] == []
    page.emulate_media(media="screen")


def test_a_formula_in_a_table_is_shown_whole_and_the_table_scrolls(page, site):
    for name in ("frames", "velocity", "conventions"):
        drawn(page, site, f"book/{name}", 390)
        assert page.locator("article td mjx-container").count() > 5
        assert page.locator("article td mjx-container:is(.wide, .more-after)").count() == 0, name


@pytest.mark.parametrize("name", ["closed_chains", "lagrange", "linkages", "structure", "your_own_arm"])
def test_lines_of_code_fit_on_a_laptop_also_in_what_was_closed(page, site, name):
    drawn(page, site, f"book/{name}", 1280)
    code = f"({SCROLLING})().filter(each => each.matches('pre')).map(each => each.textContent.slice(0, 80))"
    assert page.evaluate(code) == []


def test_nothing_that_fits_fades_out(page, site):
    drawn(page, site, "book/newton_euler", 1920)
    faded = page.eval_on_selector_all(
        ".more-after, .more-before", "found => found.map(each => [each.tagName, each.scrollWidth - each.clientWidth])"
    )
    assert [each for each in faded if each[1] <= 1] == []


def test_on_paper_lines_of_code_fit_and_pages_do_not_end_within_them(page, site):
    page.set_viewport_size({"width": 700, "height": 900})  # A4 with its margins
    page.goto(f"{site}/book/motion.html", wait_until="load")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    broken = """() => [...document.querySelectorAll(".cell_input pre")].filter(each => {
      const range = document.createRange();
      range.selectNodeContents(each);
      const height = parseFloat(getComputedStyle(each).lineHeight) || 1.3 * parseFloat(getComputedStyle(each).fontSize);
      return range.getBoundingClientRect().height > (each.textContent.trimEnd().split("\\n").length + 0.6) * height;
    }).map(each => each.textContent.slice(0, 60))"""
    assert page.evaluate(broken) == []
    style = "found => [...new Set(found.map(each => getComputedStyle(each).breakInside))]"
    for kind in (".cell_input", ".cell_output .output", ".admonition", "article tr"):
        assert page.eval_on_selector_all(kind, style) == ["avoid"], kind
    shown = "found => found.filter(each => each.checkVisibility()).length"
    assert page.eval_on_selector_all("details.hide > summary", shown) == 0
    page.emulate_media(media="screen")


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
    hidden = """() => [...document.querySelectorAll("article :is(details, .admonition) > :not(summary)")]
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


def test_on_paper_all_tabs_stand_open_below_their_names(page, site):
    page.goto(f"{site}/book/running.html", wait_until="load")
    places = """found => found.filter(each => each.checkVisibility())
        .map(each => [each.previousElementSibling.getBoundingClientRect().bottom, each.getBoundingClientRect().top])"""
    count = page.locator(".sd-tab-content").count()
    assert len(page.eval_on_selector_all(".sd-tab-content", places)) < count
    page.emulate_media(media="print")
    shown = page.eval_on_selector_all(".sd-tab-content", places)
    page.emulate_media(media="screen")
    assert len(shown) == count
    assert all(abs(bottom - top) < 5 for bottom, top in shown)


# ---- Figures -----------------------------------------------------------------------------------------

WITH_FIGURES = [page for page in PAGES if (ROOT / f"{page}.ipynb").exists() and page != "book/conventions"]
FILMS = ["book/frames", "book/motion", "book/closed_chains", "book/closed_chains_dynamics", "book/linkages"]


def themed(browser, theme, **settings):
    context = browser.new_context(**settings)
    context.add_init_script(f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}');")
    return context


def test_every_figure_is_part_of_its_page():
    for name in WITH_FIGURES:
        page = html_of(name)
        figures = page.xpath("//article//figure[contains(@class, 'drawing')]/svg")
        assert figures, name
        assert page.xpath("//article//img[contains(@src, '.svg')]") == []
        assert all(len(figure.get("aria-label")) > 20 for figure in figures), name
        ids = page.xpath("//svg//@id")
        assert len(set(ids)) == len(ids), name


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_have_the_colours_of_the_page(browser, site, theme):
    context = themed(browser, theme)
    page = context.new_page()
    page.goto(f"{site}/book/closed_chains.html", wait_until="load")
    seen = page.evaluate("""() => {
      const style = getComputedStyle(document.querySelector("figure.drawing [style*='figure-paper']"));
      const letters = document.querySelector("figure.drawing g.text [style*='figure-ink']");
      return {
        page: getComputedStyle(document.body).backgroundColor,
        paper: style.fill,
        ink: getComputedStyle(letters).fill,
        ground: getComputedStyle(document.querySelector("figure.drawing .ground")).display,
      };
    }""")
    values = {
        name: "rgb({}, {}, {})".format(*(int(pair[theme == "dark"][k : k + 2], 16) for k in (1, 3, 5)))
        for name, pair in PALETTE.items()
    }
    assert seen == {"page": values["paper"], "paper": values["paper"], "ink": values["ink"], "ground": "none"}
    page.emulate_media(media="print")
    letters = "getComputedStyle(document.querySelector(\"figure.drawing g.text [style*='figure-ink']\")).fill"
    assert page.evaluate(letters) == "rgb(77, 77, 77)", "on paper the ground is white"
    context.close()


def test_figures_fit_on_a_phone_and_keep_their_size_on_a_screen(page, site):
    widths = (
        "() => [...document.querySelectorAll('figure.drawing > svg')].map(each => each.getBoundingClientRect().width)"
    )
    for wide, expected in ((390, 358), (1280, 432)):
        page.set_viewport_size({"width": wide, "height": 800})
        page.goto(f"{site}/book/linkages.html", wait_until="load")
        assert page.evaluate(widths) == pytest.approx([expected] * 14, abs=1)


PLAYING = """film => film.querySelector(".strip").getAnimations().filter(each => each.playState === "running").length"""
PLACE = """film => new DOMMatrix(getComputedStyle(film.querySelector(".strip")).transform).e"""


def film_of(page, site, name):
    page.goto(f"{site}/{name}.html", wait_until="load")
    film = page.locator("figure.film").first
    film.scroll_into_view_if_needed()
    return film, film.get_by_role("button")


@pytest.mark.parametrize("name", FILMS)
def test_a_film_stops_and_starts_by_a_button(page, site, name):
    film, button = film_of(page, site, name)
    assert button.inner_text() == "Stop the film"
    assert film.evaluate(PLAYING) == 1
    button.focus()
    page.keyboard.press("Enter")
    assert button.inner_text() == "Play the film"
    before = film.evaluate(PLACE)
    page.wait_for_timeout(600)
    assert film.evaluate(PLACE) == before, "it stands"
    page.keyboard.press("Space")
    assert button.inner_text() == "Stop the film"
    page.wait_for_timeout(600)
    assert film.evaluate(PLACE) != before, "it moves again"


def test_a_film_stops_by_itself_and_can_be_played_again(page, site):
    film, button = film_of(page, site, "book/motion")
    rest = film.evaluate("film => film.querySelector('.strip').transform.baseVal.consolidate().matrix.e")
    assert rest < 0, "the pose at the end is not the first one"
    turns = "film => film.querySelector('.strip').getAnimations()[0].effect.getComputedTiming()"
    timing = film.evaluate(turns)
    assert (timing["iterations"], timing["duration"]) == (3, 3000)
    film.evaluate("film => { film.querySelector('.strip').getAnimations()[0].currentTime = 8950; }")
    page.wait_for_timeout(400)
    assert film.evaluate(PLAYING) == 0
    assert film.evaluate(PLACE) == pytest.approx(rest)
    assert button.inner_text() == "Play the film"
    button.click()
    assert button.inner_text() == "Stop the film"
    assert film.evaluate(PLAYING) == 1
    page.wait_for_timeout(300)
    assert film.evaluate(PLACE) > rest, "from the beginning"


def test_less_motion_is_obeyed_until_a_reader_asks_for_the_film(browser, site):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    film, button = film_of(page, site, "book/motion")
    assert film.evaluate(PLAYING) == 0
    rest = film.evaluate(PLACE)
    assert rest < 0
    assert button.inner_text() == "Play the film"
    button.click()
    assert button.inner_text() == "Stop the film"
    assert film.evaluate(PLAYING) == 1
    button.click()
    assert film.evaluate(PLAYING) == 0
    context.close()


def test_without_scripts_a_film_stops_by_itself_and_has_no_button(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/book/motion.html", wait_until="load")
    assert page.locator("figure.film").count() == 2
    assert page.locator("figure.film button").count() == 0
    assert "steps(46) 3" in page.locator("figure.film .strip").first.get_attribute("style")
    context.close()


def test_the_button_of_a_film_is_not_printed(page, site):
    _, button = film_of(page, site, "book/motion")
    assert button.is_visible()
    page.emulate_media(media="print")
    assert not button.is_visible()
    page.emulate_media(media="screen")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_readers_with_a_screen_reader_find_figures_and_buttons(page, site, theme):
    assert faults(page, site, theme, ["motion", "closed_chains"]) == {}


# ---- Search ------------------------------------------------------------------------------------------


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
