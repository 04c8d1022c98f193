"""Which compute party multiplies which pairs of components, and which components it sends when a value is opened."""

from scumble.joint.protocol.roles import Roles


def assigned_products(roles: Roles, party: int) -> list[tuple[int, list[int]]]:
    """The pairs of components that a party multiplies: rows of the left factor, each with rows of the right factor.

    Every pair is assigned to one party that holds both components: the one with the fewest pairs so far.
    """
    load = [0] * len(roles.compute)
    rows = {number: row for row, number in enumerate(roles.components_of(party))}
    pairs: dict[int, list[int]] = {}
    for left in range(len(roles.unqualified_sets)):
        for right in range(len(roles.unqualified_sets)):
            both = [place for place in roles.holders[left] if place in roles.holders[right]]
            chosen = min(both, key=lambda place: load[place])
            load[chosen] += 1
            if roles.compute[chosen] == party:
                pairs.setdefault(rows[left], []).append(rows[right])
    return list(pairs.items())


def components_sent(roles: Roles, sender: int, receiver: int) -> list[int]:
    """The components that one compute party sends to another when a value is opened.

    A receiver gets each component it lacks from the next t + 1 parties in the circle that hold it. At most t parties
    are faulty, so a wrong copy is never the only one.
    """
    size = len(roles.compute)
    circle = [(receiver + on) % size for on in range(1, size)]
    return [
        number
        for number, subset in enumerate(roles.unqualified_sets)
        if receiver in subset and sender in [place for place in circle if place not in subset][: roles.threshold + 1]
    ]
