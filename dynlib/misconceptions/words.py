"""Names of the mistakes, and what is said about them: what is wrong and what belongs there."""

from collections.abc import Mapping

WORDS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "en": {
        # ---- The recursion
        "column_differentiated": (
            "velocity column differentiated",
            "The components of v were differentiated as if the axes stood still; the term ω × v of the turning axes is "
            "missing.",
        ),
        "axis_held_still": (
            "joint axis held still",
            "The joint axis itself turns with the link before: the term ω × θ̇ẑ of the angular acceleration is missing.",
        ),
        "centripetal_missing": (
            "centripetal term missing",
            "A point on a turning link is accelerated towards the axis: the term ω × (ω × p) is missing.",
        ),
        "centripetal_of_com_missing": (
            "centripetal term of the mass centre missing",
            "The mass centre goes round the origin of its link as the next joint does: the term ω × (ω × p_c) of its "
            "acceleration is missing.",
        ),
        "coriolis_missing": (
            "Coriolis term missing",
            "A joint that slides while its link turns needs the Coriolis term 2 ω × ḋẑ.",
        ),
        "rotation_transposed": (
            "rotation used the wrong way round",
            "Going outward, vectors are turned from the axes of the parent into those of the link, by the transpose of "
            "the rotation in the transform; here it was used untransposed.",
        ),
        "gravity_added": (
            "gravity added instead of subtracted",
            "Gravity is the vector along which things fall, and the joint must hold against it: m g is subtracted.",
        ),
        "gravity_omitted": (
            "gravity left out",
            "Every mass has a weight, also while it moves: the terms with m g are missing.",
        ),
        "gravity_twice": (
            "gravity counted twice",
            "Gravity enters once: either as m g at every link, or as an upward acceleration of the base, not both.",
        ),
        "lever_of_force_missing": (
            "moment of the resultant force missing",
            "The balance of moments is taken about the joint, so the force at the mass centre has the lever p_c: the "
            "term p_c × F is missing.",
        ),
        "lever_of_next_force_missing": (
            "moment of the next link's force missing",
            "The next link pulls at its own joint, so its force has a lever about this one: the term p × R f is "
            "missing in the balance of moments.",
        ),
        "lever_of_weight_missing": (
            "moment of the weight missing",
            "The weight acts at the mass centre, so it has a lever about the joint: the term p_c × m g is missing in "
            "the balance of moments.",
        ),
        "moment_about_next_joint": (
            "moment taken about the wrong point",
            "The lever of F reaches from this joint to the mass centre; here it was measured from the next joint.",
        ),
        "friction_reversed": (
            "viscous friction with the wrong sign",
            "Friction acts against the motion, and the motor must overcome it: the term with B and the rate is added.",
        ),
        "inertia_about_origin": (
            "inertia about the wrong point",
            "The inertia belongs about the mass centre; the value about the link's origin counts the mass twice.",
        ),
        "inertia_not_moved": (
            "inertia not moved to the joint",
            "The value about the mass centre was taken for the one about the link's origin, which is larger by the "
            "mass times the square of the distance.",
        ),
        "other_dh_convention": (
            "DH table read in the other convention",
            "The table was read as modified where it is standard, or the other way round: the same numbers mean "
            "another arm.",
        ),
        "load_reversed": (
            "load with the wrong sense",
            "The load is what the surroundings put on the arm; what the arm puts on them is the opposite.",
        ),
        # ---- At one joint or link only
        "rotation_transposed_at": (
            "rotation of joint {joint} used the wrong way round",
            "Going outward to link {joint}, vectors are turned by the transpose of the rotation in the transform; at "
            "this joint it was used untransposed.",
        ),
        "rotation_transposed_in_force": (
            "rotation of joint {joint} the wrong way round in the balance of forces",
            "Going inward, the force on link {joint} is turned into the axes of the link before it by the rotation in "
            "the transform; here it was transposed.",
        ),
        "rotation_transposed_in_moment": (
            "rotation of joint {joint} the wrong way round in the balance of moments",
            "Going inward, force and moment on link {joint} are turned into the axes of the link before it by the "
            "rotation in the transform; here it was transposed.",
        ),
        "inertia_about_origin_at": (
            "inertia of link {joint} about the wrong point",
            "The inertia belongs about the mass centre; the value about the link's origin counts the mass of link "
            "{joint} twice.",
        ),
        "inertia_not_moved_at": (
            "inertia of link {joint} not moved to the joint",
            "The value about the mass centre was taken for the one about the joint of link {joint}, which is larger by "
            "the mass times the square of the distance.",
        ),
        # ---- Lagrange's equations
        "wave_not_differentiated": (
            "derivative of the cosine missing",
            "A momentum changes with time through the coordinates as well: cos θ₂ in it has the time derivative "
            "-θ̇₂ sin θ₂.",
        ),
        "kinetic_slope_dropped": (
            "derivative of the kinetic energy by the coordinate missing",
            "Kinetic energy depends on the positions of the joints as well as on their rates: the term ∂K/∂q is "
            "missing.",
        ),
        "half_lost": (
            "factor ½ lost",
            "Kinetic energy is ½ m v² + ½ ω·Iω; without the halves every momentum is twice too large.",
        ),
        "relative_rate": (
            "relative rate used as the absolute one",
            "A joint rate is measured from the link before; the link itself turns at the sum of all rates up to its "
            "joint.",
        ),
        "potential_sign": (
            "potential energy with the wrong sign",
            "Potential energy grows against the direction in which things fall: P = m g times the height.",
        ),
        "height_from_own_joint": (
            "height measured from the link's own joint",
            "All heights are measured from one level that stands still. The joint of the link moves, so the lever of "
            "the weight about the joints before it is lost.",
        ),
        # ---- The matrices
        "christoffel_order": (
            "indices of the Christoffel symbols in the wrong order",
            "C in row k and column j is ½ Σ (∂M_kj/∂q_i + ∂M_ki/∂q_j - ∂M_ij/∂q_k) q̇_i; with row and column exchanged "
            "in it, C becomes its transpose.",
        ),
        # ---- Closed chains
        "rates_squared_alone": (
            "rates squared one by one (E22)",
            "The second link turns at the sum of both rates: its energy holds (θ̇₁ + θ̇₂)², with the mixed term, not "
            "θ̇₁² + θ̇₂².",
        ),
        "relative_angle_in_centre": (
            "relative angle used for a direction (E23)",
            "θ₂ is measured from the first link. The direction of the second link, and so its mass centre, holds the "
            "sum θ₁ + θ₂.",
        ),
        "copied_index": (
            "index of another chain copied (E24)",
            "Link 22 is carried by link 21: its height begins with l₂₁ sin θ₂₁, not with the line of chain 1.",
        ),
        "energies_as_printed": (
            "energies as the document prints them (E22, E23, E24)",
            "Three slips together: the rate of a second link is the sum of both rates, its direction the sum of both "
            "angles, and link 22 is carried by link 21.",
        ),
        "partial_time_derivative": (
            "partial instead of total derivative by time (E29)",
            "A momentum depends on time through angles and rates; its partial derivative by time alone is zero, and "
            "every acceleration is lost.",
        ),
        "dependent_angles_held": (
            "torque of the cut mechanism taken for the motor's (E30)",
            "When an input moves, the dependent coordinates move with it. What the passive links cost is felt at the "
            "inputs: replace the dependent coordinates first, or project with Γᵀ.",
        ),
        "one_leg_alone": (
            "one leg taken as if it were open",
            "A force at the common point is felt through the Jacobian of the closed mechanism. The Jacobian of one leg "
            "alone holds its own second joint still.",
        ),
        "wrong_branch": (
            "another assembly mode",
            "The inputs leave more than one position open. The angles belong to another assembly mode than that of the "
            "mechanism.",
        ),
        "multiplier_sign": (
            "closure force with the wrong sense",
            "With M q̈ + h = S τ + Jᵀ λ the multiplier is the force on the link that carries point a; on the other "
            "link it is the opposite.",
        ),
        "closure_velocity_term": (
            "velocity term of the closure forgotten",
            "Differentiated twice, a closure gives J q̈ + J̇ q̇ = 0. Without J̇ q̇ the dependent accelerations are wrong as "
            "soon as anything moves.",
        ),
        "meeting_point_held": (
            "common point held still",
            "The point in which the chains meet moves with the inputs; its derivative by them is not zero.",
        ),
        # ---- Signs and units
        "all_signs": (
            "every sign reversed",
            "The numbers are right and their signs are not. Asked is what the motors supply to the arm, positive in "
            "the sense in which the coordinates grow.",
        ),
        "sign_at": (
            "sign of number {joint} reversed",
            "All is right but the sign of number {joint}. It counts positive in the sense in which its coordinate "
            "grows.",
        ),
        "thousandfold": (
            "a thousand times too large",
            "The numbers are right in mN m or N mm (forces in mN); asked are N m and N.",
        ),
        "thousandth": (
            "a thousand times too small",
            "The numbers are right in kN m (forces in kN); asked are N m and N.",
        ),
        "sines_of_degrees": (
            "calculator set to degrees",
            "The angles are in radians, and sine and cosine were taken of as many degrees.",
        ),
        "angles_in_degrees": (
            "angles in degrees",
            "The angles were turned into degrees, and sine and cosine were taken of as many radians.",
        ),
        "from_the_tip": (
            "order of the joints reversed",
            "The numbers are right, but begin with the last joint; the answer begins with joint 1.",
        ),
        "gravity_9_8": ("g = 9.8 m/s²", "The torques are those for g = 9.8 m/s²; here another value is given."),
        "gravity_9_81": ("g = 9.81 m/s²", "The torques are those for g = 9.81 m/s²; here another value is given."),
        "gravity_10": ("g = 10 m/s²", "The torques are those for g = 10 m/s²; here another value is given."),
        "rates_in_degrees": (
            "rates in degrees",
            "Rates and accelerations were put in in degrees; the equations hold in rad/s and rad/s².",
        ),
    }
}
"""Name and feedback of each mistake, by language and key; ``{joint}`` stands for the number of a joint or link."""
