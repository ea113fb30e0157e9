"""What a document consists of: headings, paragraphs, formulas and grids, and their words in each language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dynlib.algebra.lines import Row

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "language": "en",
        "title": "Joint torques of {name}",
        "contents": "Contents",
        "intro": "This document derives what the joints of the arm must supply for a motion. First the motion goes "
        "outward, link by link: where each link is, how fast it moves, how it accelerates. Then the forces come "
        "inward: what each link needs, and what it must pass on to the link before it. A number such as (A5.2.4-1) "
        "says where the equation stands in the course's documents; (E7) and the like are entries in its list of "
        "corrections.",
        "notation": "The superscript on the left says in whose axes a vector is written: ${}^{2}\\omega_{2}$ is the "
        "angular velocity of link 2, written in the axes of frame {{2}}. $\\mathrm{s}\\theta_{1}$ and "
        "$\\mathrm{c}\\theta_{1}$ are the sine and the cosine of $\\theta_{1}$, and $\\hat{z}_{i}$ is the axis of "
        "joint i. Angles are in radians, everything else in SI units.",
        "named": "To keep the lines short, every component that is not a number or a single symbol gets a name when it "
        "is computed, and the next steps are written with these names: $s_{2}$ and $c_{2}$ are the sine and the cosine "
        "of $\\theta_{2}$, $\\omega_{2x}$ is the first component of ${}^{2}\\omega_{2}$, $v_{c2x}$ that of "
        "${}^{2}v_{c_{2}}$, and $p_{2x}$ and $R_{2xy}$ belong to the transform of link 2. Read from top to bottom, the "
        "lines are a program: each uses only names that stand above it.",
        "barred": "A bar marks a name that looks like a symbol of the arm.",
        "arm": "The arm",
        "dh_modified": "The Denavit–Hartenberg table, modified convention: frame {{i}} sits at the near end of link i, "
        "on the axis of joint i; a and α lead from the axis before to this one.",
        "dh_standard": "The Denavit–Hartenberg table, standard convention: the table's frame sits at the far end of "
        "link i; a and α lead from this axis to the next one. In what follows frame {{i}} sits on the axis of joint i "
        "all the same; the mass data below are given in these axes.",
        "no_dh": "The joints are given by their poses; the section on frames shows each of them.",
        "masses": "Mass, mass centre (m) and inertia about the mass centre (kg m²), in the axes of the link. Products "
        "of inertia carry the minus sign, $I_{xy} = -\\int xy\\,\\mathrm{d}m$; what is not shown is zero.",
        "payload": "The load at the tip is counted with the last link.",
        "motors": "The motors, on their own side of the gear: inertia of the rotor J, gear ratio G, viscous friction "
        "B, dry friction forward and backward.",
        "gravity": "Gravity, the vector along which things fall, in world axes (m/s²):",
        "base": "Pose of frame {{0}} in the world:",
        "tool": "Pose of the tip frame {{{tip}}} in frame {{{n}}}:",
        "state": "The state",
        "state_text": "The derivation is done with numbers, for this one state of the joints.",
        "loads": "Loads",
        "loads_text": "The surroundings put these forces and moments on the arm; a force acts at the given point.",
        "base_motion": "The base moves; its motion, written in frame {{0}}:",
        "frames": "Frames",
        "T": "Frame {{i}} moves with link i, and its z axis is the axis of joint i. The transform from frame {{i}} to "
        "the frame before is the fixed pose that the joint has at 0, followed by the motion of the joint: a turn about "
        "z, or a slide along z. Its upper left part is the rotation ${}^{i-1}_{i}R$, its last column the position "
        "${}^{i-1}p_{i}$ of the origin.",
        "velocities": "Velocities",
        "omega": "Angular velocity, outward from the base: a link turns as the link before it does, and a revolute "
        "joint adds its own rate about its axis. The vector of the link before is first turned into the axes of this "
        "link.",
        "v": "Velocity of the origin of each frame, outward: the link before carries this point with it, and a "
        "prismatic joint adds its own rate along its axis.",
        "v_c": "Velocity of the centre of mass, a fixed point of the link. The forces do not need it; energies do.",
        "accelerations": "Accelerations",
        "domega": "Angular acceleration, outward: what the link before has, the turning of the joint axis itself, and "
        "the acceleration of the joint.",
        "dv": "Acceleration of the origin of each frame, outward: the point is carried by the link before, with its "
        "tangential and its centripetal part; a prismatic joint adds the Coriolis term and its own acceleration. The "
        "dot means the derivative that someone at rest sees, written in the axes of the link.",
        "dv_c": "Acceleration of the centre of mass, in the same way. This is what Newton's law needs.",
        "resultants": "Resultant forces and moments",
        "F": "Newton's law gives the sum of all forces on a link: mass times acceleration of the centre of mass.",
        "N": "Euler's law gives the sum of all moments about the centre of mass. The second term is there because the "
        "link's inertia turns with it.",
        "balances": "Forces and moments at the joints",
        "g": "Gravity, turned into the axes of each link, outward. It enters only here.",
        "f": "Force of the link before on link i, now inward from the tip: it must supply the resultant, what the "
        "link passes on to the next one, and it must carry the weight.",
        "n": "Moment of the link before on link i, about the origin of frame {{i}}, inward: the same for moments, "
        "where every force counts with its lever arm.",
        "torques": "Torques of the joints",
        "tau": "The bearings of a joint carry all components but one; along the axis the drive must do it. A revolute "
        "joint supplies the z component of the moment, a prismatic joint that of the force.",
        "tau_m": "The motor also accelerates its own rotor and overcomes friction, seen through the gear.",
        "result": "Result",
        "result_closed": "The torques (N m) of the revolute joints and the forces (N) of the prismatic joints, written "
        "out in the symbols of the arm.",
        "result_named": "The last lines above are the torques. All {lines} named lines take {operations:,} operations "
        "together. Without the names and multiplied out, the torques would have up to {terms:,} terms, too long to "
        "be read.",
        "result_numbers": "What the joints must supply in this state:",
        "joint": "joint",
        "kind": "kind",
        "revolute": "revolute",
        "prismatic": "prismatic",
        "fixed": "fixed",
        "link": "link",
        "mass": "mass (kg)",
        "force": "force (N)",
        "moment": "moment (N m)",
        "point": "point (m)",
        "axes": "axes",
        "axes_link": "of the link",
        "axes_base": "of the base",
        "axes_world": "of the world",
        "tip": "tip",
        "value": "value",
        "rate": "rate",
        "acceleration": "acceleration",
        "unit": "unit",
    }
}
"""Every word that stands in a document, by language and key; between dollar signs stands TeX.

:meta hide-value:
"""
SECTIONS: dict[str, tuple[str, ...]] = {
    "frames": ("T",),
    "velocities": ("omega", "v", "v_c"),
    "accelerations": ("domega", "dv", "dv_c"),
    "resultants": ("F", "N"),
    "balances": ("g", "f", "n"),
    "torques": ("tau", "tau_m"),
}
"""The sections of the derivation with the quantities that each of them computes.

:meta hide-value:
"""


class Math(str):
    """TeX, among text."""


Text = tuple[str | Math, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: Text
    key: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences with formulas among them."""

    text: Text


@dataclass(frozen=True)
class Formula:
    """Lines of a formula, aligned at the relation sign."""

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Grid:
    """A table of text and formulas."""

    head: tuple[str | Math, ...]
    rows: tuple[tuple[str | Math, ...], ...]


Block = Heading | Paragraph | Formula | Grid


# What stands in the document ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Words:
    """The words of one language."""

    table: Mapping[str, str]

    def __getitem__(self, key: str) -> str:
        return self.table[key]

    def say(self, key: str, **values: Any) -> Text:
        """Return a sentence: values are put into its words, its formulas stand as they are."""
        parts = self.table[key].split("$")
        return tuple(Math(part) if place % 2 else part.format(**values) for place, part in enumerate(parts) if part)
