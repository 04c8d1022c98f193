"""Every pair of components is multiplied once, and everyone gets what it lacks when a value is opened."""

from collections import Counter

import pytest
from joint_threads import ALL_ROLES, roles_for, roles_id

from scumble.joint.protocol.assignment import assigned_products, components_sent
from scumble.joint.protocol.roles import Roles

EVERY_ROLES = pytest.mark.parametrize("roles", [*ALL_ROLES, roles_for(6), roles_for(7)], ids=roles_id)


@EVERY_ROLES
def test_every_pair_of_components_is_multiplied_by_one_party_that_holds_both(roles: Roles) -> None:
    pairs: Counter[tuple[int, int]] = Counter()
    for party in roles.compute:
        held = roles.components_of(party)
        pairs += Counter(
            (held[left], held[right]) for left, partners in assigned_products(roles, party) for right in partners
        )
    components = range(len(roles.unqualified_sets))
    assert pairs == Counter((left, right) for left in components for right in components)


@EVERY_ROLES
def test_everyone_gets_each_component_that_it_lacks_from_enough_holders(roles: Roles) -> None:
    for receiver in range(len(roles.compute)):
        sent = Counter(
            number
            for sender in range(len(roles.compute))
            if sender != receiver
            for number in components_sent(roles, sender, receiver)
        )
        lacking = {number for number, subset in enumerate(roles.unqualified_sets) if receiver in subset}
        assert sent == dict.fromkeys(lacking, roles.threshold + 1)
