"""Changes of a taxonomy: each takes a tree and returns another one. Leaves keep their order where they can."""

from collections.abc import Sequence

from scumble.errors import InputError
from scumble.model.taxonomy import Nested, Node, Tree

OpenBranches = dict[str, "OpenBranches"]
"""A taxonomy as nested dictionaries, which can be changed. A leaf has an empty one."""


def add_node(tree: Tree, label: str, below: str) -> Tree:
    """The tree with a new leaf below a node. A leaf that gets a child becomes a group.

    >>> add_node(Tree.flat(["a", "b"]), "c", "Any").labels
    ('a', 'b', 'c')
    """
    name = _new(tree, label)
    nested = _branches(tree)
    _below(nested, tree.node(below).label)[name] = {}
    return _tree(nested)


def rename_node(tree: Tree, label: str, new: str) -> Tree:
    """The tree with another name for one node, in the same place."""
    tree.node(label)
    if label == new:
        return tree
    name = _new(tree, new)

    def renamed(branches: OpenBranches) -> OpenBranches:
        return {name if each == label else each: renamed(below) for each, below in branches.items()}

    return _tree(renamed(_branches(tree)))


def move_node(tree: Tree, label: str, below: str) -> Tree:
    """The tree with a node, and all below it, as the last child of another one."""
    if tree.node(below).label in tree.labels_below(label):
        raise InputError(f"{below!r} is {label!r} itself or below it. Choose a node elsewhere in the tree.")
    nested = _branches(tree)
    branch = _taken(nested, _inner(tree, label))
    _below(nested, below)[label] = branch
    return _tree(nested)


def group_nodes(tree: Tree, labels: Sequence[str], name: str) -> Tree:
    """The tree with several children of one node below a new node, at the place of the first.

    >>> group_nodes(Tree.flat(["a", "b", "c"]), ["b", "c"], "late").to_nested()
    {'Any': {'a': None, 'late': {'b': None, 'c': None}}}
    """
    chosen = [_inner(tree, label) for label in dict.fromkeys(labels)]
    if not chosen:
        raise InputError("A group needs at least one value. Choose the values to put into it.")
    parents = {_parent(tree, label) for label in chosen}
    if len(parents) != 1:
        raise InputError(f"{', '.join(map(repr, chosen))} are not below the same node. Move them there first.")
    new = _new(tree, name)
    nested = _branches(tree)
    siblings = _below(nested, parents.pop())
    group = {label: below for label, below in siblings.items() if label in chosen}
    first = next(iter(group))
    kept = [(new, group) if label == first else (label, below) for label, below in siblings.items()]
    siblings.clear()
    siblings.update((label, below) for label, below in kept if label not in group)
    return _tree(nested)


def remove_node(tree: Tree, label: str) -> Tree:
    """The tree without a node. Its children move up; a leaf is no longer a value of the domain."""
    nested = _branches(tree)
    siblings = _below(nested, _parent(tree, _inner(tree, label)))
    kept = [pair for each, below in siblings.items() for pair in (below.items() if each == label else [(each, below)])]
    if not kept:
        raise InputError(f"{label!r} is the only value below its parent. Add another value first.")
    siblings.clear()
    siblings.update(kept)
    return _tree(nested)


def _branches(tree: Tree) -> OpenBranches:
    def below(node: Node) -> OpenBranches:
        return {child.label: below(child) for child in node.children}

    return {tree.finest.root.label: below(tree.finest.root)}


def _tree(branches: OpenBranches) -> Tree:
    def nested(below: OpenBranches) -> Nested:
        return {label: nested(further) if further else None for label, further in below.items()}

    return Tree.nested(nested(branches))


def _new(tree: Tree, label: str) -> str:
    name = label.strip()
    if not name:
        raise InputError("A node needs a name. Type one.")
    if name in {node.label for node in tree.root.walk()}:
        raise InputError(f"The taxonomy has a node {name!r} already. Names are unique: choose another one.")
    return name


def _inner(tree: Tree, label: str) -> str:
    if label == tree.root.label:
        raise InputError(f"{label!r} is the root, which stays where it is. Choose a node below it.")
    return tree.node(label).label


def _parent(tree: Tree, label: str) -> str:
    def has_child(node: Node) -> bool:
        return any(child.label == label for child in node.children)

    return next(node.label for node in tree.root.walk() if has_child(node))


def _below(branches: OpenBranches, label: str) -> OpenBranches:
    """The children of a node, to be changed in place."""
    waiting = [branches]
    while waiting:
        level = waiting.pop()
        if label in level:
            return level[label]
        waiting.extend(level.values())
    raise InputError(f"The taxonomy has no node {label!r}. Use one of its names exactly as written.")


def _taken(branches: OpenBranches, label: str) -> OpenBranches:
    """Remove a branch and return it."""
    waiting = [branches]
    while waiting:
        level = waiting.pop()
        if label in level:
            return level.pop(label)
        waiting.extend(level.values())
    raise InputError(f"The taxonomy has no node {label!r}. Use one of its names exactly as written.")
