"""The plan of a joint release: what owners can compute jointly, and the delta of their noise."""

from dataclasses import replace
from fractions import Fraction

from scumble.errors import InputError
from scumble.joint.group_privacy import delta_factor
from scumble.joint.protocol.geometric_noise import DELTA_EACH
from scumble.joint.protocol.roles import Roles
from scumble.model.guarantee import ApproxDP, JointDP, PureDP
from scumble.model.operation import COMPARED
from scumble.model.plan import Plan
from scumble.model.schema import Schema
from scumble.model.spend import SINGLE_OWNER

OFFERED = COMPARED
"""What the joint holder offers: sums over all owners' rows and comparisons of such sums, both secret."""
LARGEST_DELTA = Fraction(1, 2**40)
"""The delta of persons grows with e^epsilon; beyond this, a plan is refused. The delta of single rows is smaller."""


def joint_plan(plan: Plan, roles: Roles, schema: Schema) -> Plan:
    """The plan of a single owner with the guarantee of the joint release; refuses what owners cannot compute jointly.

    Reads no data. The guarantee's delta allows `DELTA_EACH` for every candidate of a choice and for every count of a
    measurement, however the spends are divided. If the plan protects persons, this is the delta of one row, and the
    guarantee states that of the rows of a person at one owner.
    """
    if isinstance(plan.guarantee, ApproxDP):
        raise InputError(f"This release cannot be made jointly: {SINGLE_OWNER}.")
    if not isinstance(plan.guarantee, PureDP):
        raise InputError(
            "A joint release must be differentially private, and this method is not. Choose another method."
        )
    for operation, instead in plan.needs.items():
        if operation not in OFFERED:
            raise InputError(
                f"This release cannot be made jointly: {instead or f'it needs {operation}; choose another method'}."
            )
    own = plan.guarantee
    factor = delta_factor(own.epsilon, own.protects)
    delta = DELTA_EACH * _numbers(plan, schema) * factor
    if factor > 1 and delta > LARGEST_DELTA:
        raise InputError(
            f"For all rows of a person, delta would be {_power_of_ten(delta)}, too large for a guarantee: it grows "
            "with e to the power of epsilon. Choose a smaller epsilon, or a smaller `rows_each_at_most`."
        )
    guarantee = JointDP(
        epsilon=own.epsilon, delta=delta, coalition=roles.threshold, unit=own.unit, protects=own.protects
    )
    return replace(plan, guarantee=guarantee)


def numbers_allowed(guarantee: JointDP) -> int:
    """How many numbers may get noise under the delta of a joint plan."""
    return int(guarantee.delta / delta_factor(guarantee.epsilon, guarantee.protects) / DELTA_EACH)


def _numbers(plan: Plan, schema: Schema) -> int:
    """The most numbers of all answers together.

    If the plan does not state them, every use of every spend may be a choice of a split or a count of all cells. There
    are never more candidates than splits in the schema: nodes of a taxonomy with several children, and positions
    between two neighbouring codes.
    """
    if plan.numbers_at_most is not None:
        return plan.numbers_at_most
    splits = sum(attribute.domain.size - 1 for attribute in schema.predictors)
    values = max(splits, plan.cells_at_most * max(1, len(schema.classes)))
    return values * sum(spend.times for spend in plan.spends)


def _power_of_ten(number: Fraction) -> str:
    """About this number, which may be too large for a float."""
    return f"about 10^{len(str(int(number * 10**40))) - 41}"
