"""The derivation as a document: everything in it was computed, in every format; it fits its page."""

import functools
import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from lxml import html

from dynlib import linkages, newton_euler, robotfile, robots
from dynlib.algebra import notation
from dynlib.algebra.lines import COLUMN
from dynlib.derivation import document, render, steps, write
from dynlib.derivation.parts import SECTIONS, WORDS
from dynlib.model import Link, Robot
from dynlib.velocity import BaseMotion, Wrench
from tools.files import ROOT

FORMATS = ("markdown", "latex", "html")


def catalogue(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # published data that no real body can have
        return robots.load(name)


ARMS = {
    name: catalogue(name) for name in ("planar_2r", "planar_3r", "rp", "rrp", "furuta", "puma560", "stanford", "kr210")
}
STATE = {name: np.random.default_rng(1).uniform(-1, 1, (3, arm.n)) for name, arm in ARMS.items()}


def rows(text):
    """The lines of all formulas as (left side, right side), continued lines joined, without source numbers."""
    found = []
    for body in re.findall(r"\\begin\{align(?:ed|\*)\}\n(.*?)\n\\end\{align", text, flags=re.DOTALL):
        for line in body.split(" \\\\\n"):
            left, right = re.split(r" ?&", re.sub(r" (\\tag\{[^}]*\}|\\qquad \\text\{.*\})$", "", line), maxsplit=1)
            if right.startswith(r"\quad"):
                found[-1] = (found[-1][0], found[-1][1] + " " + re.sub(r"^(\\quad)+\{\} ", "", right))
            else:
                found.append((left, right.removeprefix("= ")))
    return [(left, right.replace(r"\bigl(", r"\left(").replace(r"\bigr)", r"\right)")) for left, right in found]


@functools.cache
def rendered(name, to="markdown"):
    """Return the document of an arm, which is made once for all tests of it."""
    return render(ARMS[name], to)


def expected_rows(derived):
    for section in SECTIONS.values():
        for quantity in section:
            for step in derived:
                if step.equation.quantity == quantity:
                    yield from rows_of(step)


def rows_of(step):
    left, right = step.sides()
    yield left, right
    parts = steps.written_out(step.value, collect=True)
    whole = ("", notation.latex(parts, step.decimals))
    if not parts.ndim or COLUMN.below(step.source).holds(left, "= " + whole[1]):
        yield whole
    else:
        for place, entry in np.ndenumerate(parts):
            mark = "xyz"[place[0]] if len(place) == 1 else "".join(str(k + 1) for k in place)
            yield (rf"\left({left}\right)_{{{mark}}}" if place else ""), notation.latex(entry, step.decimals)
    for name, meaning in step.names.items():
        yield notation.latex(name), notation.latex(meaning, step.decimals)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("to", ["markdown", "latex"])
def test_every_line_is_a_recorded_value_and_every_recorded_value_is_a_line(name, to):
    arm = ARMS[name].exact()
    derived = steps.derive(arm, named=arm.n > 3)
    shown = rows(rendered(name, to))
    begin = next(place for place, (left, _) in enumerate(shown) if left == "{}^{0}_{1}T")
    expected = list(expected_rows(derived))
    for (left, right), (wanted_left, wanted) in zip(shown[begin:], expected, strict=False):
        assert left == wanted_left
        assert right == wanted
    assert len(shown) - begin - len(expected) in (0, arm.n)  # the written-out torques of a small arm stand below


def test_an_arm_of_decimals_has_no_fractions_in_its_document_and_one_of_letters_has():
    crane = robotfile.read(ROOT / "book" / "crane.toml")
    halves = render(crane).count(r"0.5 d_{3}")
    assert halves > 5
    assert r"\frac{" not in render(crane)
    assert {step.decimals for step in steps.derive(crane)} == {True}
    letters = robotfile.read(ROOT / "book" / "crane_letters.toml")
    assert r"\frac{1}{2}" in render(letters)
    assert not re.search(r"\d\.\d", "".join(right for _, right in rows(render(letters))))


def numbers_of_tex(tex):
    tex = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", tex)
    return [float(found) for found in re.findall(r"-?\d[\d.]*(?:e-?\d+)?", tex)]


def numbers_of_mathml(cell):
    for power in cell.iter("{*}msup", "msup"):
        power[-1].text, power[-1][:] = "^" + "".join(power[-1].itertext()), []
    spaced = " ".join(cell.itertext()).replace("− ", "-").replace("−", "-")
    return numbers_of_tex(re.sub(r"\s*·\s*10\s*\^(-?\d+)", r" \\cdot 10^{\1}", spaced))


@pytest.mark.parametrize("name", ["puma560", "stanford"])
@pytest.mark.parametrize("to", FORMATS)
def test_numbers_in_every_format_are_those_of_the_recursion(name, to):
    arm, state = ARMS[name], STATE[name]
    records = newton_euler.recursion(arm, *state)
    if to == "html":
        cells = html.fromstring(render(arm, to, *state)).xpath("//div[@class='step']/*[position() mod 3 = 2]")
        found = [numbers_of_mathml(cell) for cell in cells if not cell.xpath(".//mi") and cell.xpath(".//mn")]
    else:
        values = [right for _, right in rows(render(arm, to, *state)) if re.match(r"\\begin\{bmatrix\}|-?\d", right)]
        found = [numbers_of_tex(value) for value in values]
    wanted = []
    for quantities in SECTIONS.values():
        for quantity in quantities:
            links = range(arm.n - 1, -1, -1) if quantity in "fn" else range(arm.n)
            if quantity != "tau_m" or arm.links[0].motor is not None:
                wanted += [getattr(records[i], quantity).ravel() for i in links]
    first = (
        len(found) - len(wanted) - arm.n
    )  # gravity and the pose of the tip stand before, the torques once more below
    assert first in (1, 2)
    for numbers, value in zip(found[first:], [*wanted, *wanted[-arm.n :]], strict=True):
        assert numbers == pytest.approx(value.tolist(), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("name", ARMS)
def test_lines_are_short_enough_for_a_page(name):
    for line in re.findall(r"&(.*)", rendered(name, "markdown")):
        assert len(notation.text(re.sub(r"\\begin\{bmatrix\}.*", "", line))) < 110


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX here")
@pytest.mark.parametrize("name", ["planar_3r", "puma560", "kr210"])
def test_latex_compiles_and_nothing_leaves_the_page(name, tmp_path):
    arm = replace(ARMS[name], name=r"an_arm & 100% {odd} \ $x$ #1 ~^ <b>")
    path = write(arm, tmp_path / "arm.tex", loads=[Wrench([1, 0, 0], link=1, axes="world")])
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", path.name], cwd=tmp_path, capture_output=True)
    log = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log


@pytest.mark.parametrize("name", ARMS)
def test_latex_environments_and_braces_are_balanced(name):
    text = rendered(name, "latex")
    open_environments = []
    for kind, environment in re.findall(r"\\(begin|end)\{([a-z*]+)\}", text):
        if kind == "begin":
            open_environments.append(environment)
        else:
            assert open_environments.pop() == environment
    assert open_environments == []
    plain = re.sub(r"\\[{}]", "", text)
    assert plain.count("{") == plain.count("}")
    assert text.count(r"\left") == text.count(r"\right")


@pytest.mark.parametrize("name", ARMS)
def test_html_is_one_file_with_valid_links_and_no_tex(name):
    text = rendered(name, "html")
    page = html.fromstring(text)
    assert not re.findall(r"(?:src|href)=\"(?!#)", text)
    assert "//" not in text
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in page.xpath("//nav//@href")} <= set(ids)
    assert page.get("lang") == "en"
    body = page.find("body").text_content()
    assert not re.search(r"[\\$&_]|\{(?!i\}|\d+\})", body)
    assert "<merror" not in text


@pytest.mark.parametrize("to", FORMATS)
def test_odd_names_are_shown_as_they_are(to):
    arm = replace(ARMS["planar_2r"], name=r"<b>a_b*c$d|e</b>&\x")
    text = render(arm, to)
    shown = {
        "markdown": r"\<b\>a\_b\*c\$d\|e\</b\>&\\x",
        "latex": r"$<$b$>$a\_b*c\$d|e$<$/b$>$\&\textbackslash{}x",
        "html": r"&lt;b&gt;a_b*c$d|e&lt;/b&gt;&amp;\x",
    }
    assert shown[to] in text


ODD = {
    "a_{b}$<script>": r"\mathrm{a\_\lbrace b\rbrace \${<}script{>}}",
    "x^2": r"\mathrm{x\wedge 2}",
    r"\input{passwd}": r"\mathrm{\backslash input\lbrace passwd\rbrace }",
    "a|b*c": r"\mathrm{a\vert b\ast c}",
    "line\nend": r"\mathrm{line\backslash nend}",
    "\x1b[31m": r"\mathrm{\backslash x1b[31m}",
}


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("named", [False, True])
def test_symbols_with_odd_names_are_shown_as_they_are(to, named):
    """They stand in the DH table, the masses, gravity, the steps and the result; nothing of them acts."""
    m1, c1, a2, m2, c2, g = map(sympy.Symbol, ODD)
    rows = [dict(mass=m1, com=[c1, 0, 0]), dict(a=a2, mass=m2, com=[c2, 0, 0])]
    text = render(Robot.from_dh(rows, convention="modified", gravity=[0, -g, 0]), to, named=named)
    if to == "html":
        page = html.fromstring(text)
        assert not page.xpath("//script")
        shown = "".join(page.find("body").text_content().split())
        for name in ODD:
            assert shown.count(notation.printable(name).replace("^", "∧")) >= 3, name
    else:
        for name, tex in ODD.items():
            assert text.count(tex) >= 3, name
            assert name not in text
        tables = [line.count("|") for line in text.splitlines() if line[:1] == "|"]
        assert tables == ([7] * 4 + [6] * 4 + [5] * 4 if to == "markdown" else [])
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("to", FORMATS)
def test_a_name_of_several_lines_stays_one_heading(to):
    text = render(replace(ARMS["planar_2r"], name="a\n# b\x1b[31m\u202e"), to)
    backslash = {"markdown": r"\\", "latex": r"\textbackslash{}", "html": "\\"}[to]
    assert "a{0}n{1} b{0}x1b".format(backslash, {"markdown": r"\#", "latex": r"\#", "html": "#"}[to]) in text
    assert text.replace("\n", "").isprintable()


def test_names_are_used_when_the_arm_is_long_or_a_value_is_too_long():
    assert "c_{2} &= " not in rendered("planar_3r")
    assert r"c_{2} &= \mathrm{c}\theta_{2}" in rendered("puma560")
    assert r"c_{2} &= \mathrm{c}\theta_{2}" in render(ARMS["planar_2r"], named=True)
    spatial = Robot.from_dh(
        [
            dict(a=sympy.Symbol(f"a{i}"), alpha=sympy.Symbol(f"alpha{i}"), mass=sympy.Symbol(f"m{i}"), com=[1, 2, 3])
            for i in range(3)
        ],
        convention="modified",
        gravity=[0, 0, -10],
    )
    assert r"c_{2} &= \mathrm{c}\theta_{2}" in render(spatial)
    assert "too long to be shown" in render(spatial, named=False)


def test_written_out_torques_of_a_small_arm_stand_at_the_end_also_with_names():
    arm = ARMS["planar_2r"]
    tau = newton_euler.inverse_dynamics(arm, *arm.motion_symbols())
    for named in (False, True):
        found = rows(render(arm, named=named))[-2:]
        assert found == [
            (rf"\tau_{{{i}}}", notation.latex(steps.written_out(value, collect=True)))
            for i, value in enumerate(tau, start=1)
        ]


def test_the_arm_is_shown_with_table_convention_and_state():
    text = render(ARMS["rrp"], "markdown", [0.1, 0.2, 0.3], [0, 0, 0], [0, 0, 1])
    assert "modified convention" in text or "standard convention" in text
    assert r"| 3 | prismatic | $d_{3} = 0.3$ | $\dot{d}_{3} = 0$ | $\ddot{d}_{3} = 1$ | m, s |" in text
    puma = rendered("puma560")
    assert r"| 3 | revolute | $0.0203$ | $-\pi/2$ | $0.15005$ | $\theta_{3}$ |" in puma
    assert r"| 2 | $17.4$ | $0.068$ | $0.006$ | $0.2275$ |" in puma
    assert r"| 1 | $0.0002$ | $-62.6111$ |" in puma
    bare = Robot([Link("revolute", np.eye(4), ARMS["puma560"].links[1].body)], gravity=[0, 0, 0])
    assert "given by their poses" in render(bare)
    assert "The load at the tip is counted with the last link" in render(bare.with_payload(1))


def test_loads_and_motion_of_the_base_are_shown():
    text = render(
        ARMS["planar_2r"],
        tip_force=[sympy.Symbol("P"), 0, 0],
        loads=[Wrench(moment=[0, 0, 5], link=1, axes="world")],
        base=BaseMotion(dv=[0, sympy.Symbol("a"), 0]),
    )
    assert r"| tip | $\begin{bmatrix} P \\ 0 \\ 0 \end{bmatrix}$ |" in text
    assert "| 1 | " in text
    assert "| of the world |" in text
    assert r"{}^{0}\dot{v}_{0} &= \begin{bmatrix} 0 \\ a \\ 0 \end{bmatrix}" in text


@pytest.mark.parametrize("name", ["rrp", "puma560"])
def test_every_word_comes_from_the_table_of_words(name, monkeypatch):
    formulas = {key: re.findall(r"\$[^$]*\$", words) for key, words in WORDS["en"].items()}
    other = {key: "⟦" + " ".join(["x", *formulas[key]]).replace("x", "字") + "⟧" for key in formulas}
    monkeypatch.setitem(WORDS, "other", other)
    loads = [Wrench([1, 0, 0], axes="base"), Wrench([1, 0, 0], link=1)]
    for state in ((), STATE[name]):
        text = render(ARMS[name], "markdown", *state, language="other", loads=loads if len(state) else ())
        left = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|⟦|⟧|字", "", text, flags=re.DOTALL)
        assert set(re.findall(r"[a-zA-Z]+", left)) <= {"i", "rad", "m", "s"}


def test_languages_have_the_same_keys():
    assert all(words.keys() == WORDS["en"].keys() for words in WORDS.values())
    sections = {*SECTIONS, *(quantity for each in SECTIONS.values() for quantity in each)}
    assert sections <= WORDS["en"].keys()
    used = "".join(path.read_text(encoding="utf-8") for path in Path(document.__file__).parent.glob("*.py"))
    dynamic = {*sections, "dh_modified", "dh_standard", "axes_link", "axes_base", "axes_world"}
    dynamic |= {"revolute", "prismatic", "fixed"}
    assert [key for key in WORDS["en"] if key not in dynamic and used.count(f'"{key}"') < 2] == []


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "arm.md"
    assert write(ARMS["planar_2r"], path) == path
    text = path.read_text(encoding="utf-8")
    assert text == render(ARMS["planar_2r"])
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk is full")))
    with pytest.raises(OSError, match="disk is full"):
        write(ARMS["rp"], path)
    assert path.read_text(encoding="utf-8") == text
    assert list(tmp_path.iterdir()) == [path]


def test_the_ending_says_the_format(tmp_path):
    for ending, beginning in ((".html", "<!DOCTYPE html>"), (".HTM", "<!DOCTYPE html>"), (".tex", r"\documentclass")):
        path = write(ARMS["rp"], tmp_path / f"arm{ending}")
        assert path.read_text(encoding="utf-8").startswith(beginning)
    assert write(ARMS["rp"], tmp_path / "arm.txt", to="markdown").read_text(encoding="utf-8").startswith("# ")


def test_bad_requests(tmp_path, monkeypatch):
    arm = ARMS["rp"]
    with pytest.raises(ValueError, match="the format is 'pdf'; expected 'markdown', 'latex', 'html'"):
        render(arm, "pdf")
    with pytest.raises(ValueError, match="no words for the language 'xx'; there are en"):
        render(arm, language="xx")
    with pytest.raises(ValueError, match=r"arm.doc ends with '.doc'; expected .md, .tex, .html"):
        write(arm, tmp_path / "arm.doc")
    with pytest.raises(
        ValueError, match=r"'.pdf'; expected .*html.* For a PDF print the .html from a browser, or .*LaTeX"
    ):
        write(arm, tmp_path / "arm.pdf")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setitem(__import__("sys").modules, "latex2mathml.converter", None)
    with pytest.raises(ImportError, match="HTML needs the package latex2mathml.*pip install latex2mathml"):
        render(arm, "html")


AB = sympy.symbols("a b")


@pytest.mark.parametrize(("name", "q"), [("puma560", STATE["puma560"][0]), ("planar_2r", AB), ("planar_2r", [0, 1])])
def test_a_position_alone_means_that_the_arm_is_at_rest(name, q, tmp_path):
    arm = ARMS[name]
    rest, moving = [0] * arm.n, [1] * arm.n
    for given, whole in (((q,), (q, rest, rest)), ((q, moving), (q, moving, rest))):
        assert render(arm, "latex", *given) == render(arm, "latex", *whole)
        assert write(arm, tmp_path / "arm.tex", *given).read_text(encoding="utf-8") == render(arm, "latex", *whole)


@pytest.mark.parametrize("function", [lambda arm, _: render(arm), lambda arm, folder: write(arm, folder / "arm.md")])
def test_what_is_no_arm_is_refused_in_words(function, tmp_path):
    linkage = linkages.four_bar(ground=4, crank=1, coupler=3.5, rocker=2.5, masses=[1, 1, 1])
    with pytest.raises(
        TypeError, match=f"{linkage.name} is a linkage; a document tells how the torques of a single arm"
    ):
        function(linkage, tmp_path)
    with pytest.raises(TypeError, match=r"expected an arm, a Robot; got str. robots.load.name. gives one"):
        function("planar_2r", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_nothing_is_derived(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "render", lambda *_, **__: pytest.fail("derived"))
    with pytest.raises(FileNotFoundError, match="the folder .*none does not exist"):
        write(ARMS["rp"], tmp_path / "none" / "arm.md")
