"""The readable twin of graphical models: the whole distribution over all attributes, as one table."""

import numpy as np

from scumble.methods.explore.fitting import FittedTable
from scumble.methods.explore.graphical_model import GraphicalModel
from scumble.methods.explore.junction_tree import Clique, junction_tree
from scumble.model.counts import Floats
from scumble.privacy.noise import simulation

SIZES = (2, 3, 2, 4, 2)


def full_joint(model: GraphicalModel) -> Floats:
    table = np.ones(model.tree.sizes)
    for clique, potential in zip(model.tree.cliques, model.potentials, strict=True):
        shape = [size if place in clique else 1 for place, size in enumerate(model.tree.sizes)]
        table = table * np.exp(potential).reshape(shape)
    return np.asarray(table / table.sum())


def summed(joint: Floats, places: Clique) -> Floats:
    return np.asarray(joint.sum(axis=tuple(place for place in range(joint.ndim) if place not in places)))


def random_model(measured: list[Clique], seed: int) -> GraphicalModel:
    tree = junction_tree(SIZES, measured)
    draw = simulation(seed)
    return GraphicalModel(tree, [draw.normal(0, 2, [SIZES[place] for place in clique]) for clique in tree.cliques])


def loss(joint: Floats, targets: list[FittedTable], total: float) -> float:
    """Weighted squared differences between expected and noisy counts."""
    return sum(
        float((((total * summed(joint, each.places) - each.counts) ** 2) / each.variance).sum()) / 2 for each in targets
    )


def fit_of_the_full_joint(targets: list[FittedTable], total: float) -> Floats:
    """Exponentiated gradient on the table of all combinations of values."""
    scale = sum(total**2 / float(np.min(each.variance)) for each in targets)
    logarithms = np.zeros(SIZES)
    for _ in range(10_000):
        joint = np.exp(logarithms - logarithms.max())
        joint /= joint.sum()
        for each in targets:
            slope = total * (total * summed(joint, each.places) - each.counts) / each.variance / scale
            shape = [size if place in each.places else 1 for place, size in enumerate(SIZES)]
            logarithms = logarithms - slope.reshape(shape)
    return joint
