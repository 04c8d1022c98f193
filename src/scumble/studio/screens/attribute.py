"""One column: a picture of its domain, the editor of its kind, and the reason why it is public."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from scumble.errors import InputError
from scumble.files.schema_attribute import REASON as REASON_KEY
from scumble.files.schema_attribute import attribute_data
from scumble.files.schema_file import read_schema_text
from scumble.flows.schema_edit import column_comments, edit_domain, import_hierarchy, set_domain, state_reason
from scumble.model.grid import Grid
from scumble.model.schema import Attribute, Schema
from scumble.model.taxonomy import Tree
from scumble.model.taxonomy_edits import add_node, group_nodes, move_node, remove_node, rename_node
from scumble.studio.commands import DOMAIN, FILE, LABEL, REASON, line
from scumble.studio.pages import NO_FIELDS, FormFields, Problem, at_field, page, posted, project_of, redirect
from scumble.studio.pictures import domain_picture, tree_picture
from scumble.studio.projects import Project
from scumble.studio.screens.domains import LIGHTS, light_of

LONGEST_DOMAIN = 400
"""Characters of a domain that is written out in a command."""
KINDS = {
    "numeric": "numbers in equal cells",
    "edges": "numbers between edges",
    "taxonomy": "categories in a tree",
    "ordered": "ordered categories",
    "date": "dates",
    "prefix": "codes by prefix",
    "boolean": "yes or no",
}
"""Kinds of domains, as the form names them."""


def show(request: Request, *, problem: Problem | None = None, typed: FormFields = NO_FIELDS) -> Response:
    """The picture, the editor, and the reason."""
    project = project_of(request)
    schema = project.schema_or_raise()
    name = request.path_params["attribute"]
    attribute = next((each for each in schema.attributes if each.name == name), None)
    if attribute is None and name not in (*schema.identifiers, *project.source().columns()):
        raise InputError(f"The table has no column {name!r}.")
    entry = {} if attribute is None else attribute_data(attribute, schema)
    kind = typed.text("kind") or request.query_params.get("kind", "") or _kind(entry)
    domain = None if attribute is None else attribute.domain
    editable = attribute is not None and _has_taxonomy(attribute)
    return page(
        "attribute.html",
        project=project,
        here="domains",
        name=name,
        attribute=attribute,
        is_class=name == schema.target,
        light=None if attribute is None else light_of(attribute),
        words="" if attribute is None else LIGHTS[light_of(attribute)],
        comment=column_comments(read_schema_text(project.schema_path)).get(name, ""),
        entry=entry,
        kind=kind if kind in KINDS else "numeric",
        kinds=KINDS,
        picture=None if attribute is None else domain_picture(attribute),
        tree=tree_picture(domain) if isinstance(domain, Tree) and editable else None,
        nodes=[node.label for node in domain.root.walk()] if isinstance(domain, Tree) and editable else [],
        numeric=isinstance(domain, Grid),
        files=_hierarchies(project),
        problem=problem,
        typed=typed,
        commands=_commands(project, name, entry, domain if isinstance(domain, Tree) and editable else None),
    )


def _has_taxonomy(attribute: Attribute) -> bool:
    domain = attribute.domain
    return isinstance(domain, Tree) and not domain.splits_anywhere and attribute.notation is None


def _kind(entry: Mapping[str, Any]) -> str:
    if "numeric" in entry:
        return "edges" if "edges" in entry["numeric"] else "numeric"
    return next((kind for kind in ("ordered", "date", "prefix", "boolean") if kind in entry), "taxonomy")


def _hierarchies(project: Project) -> list[str]:
    """CSV files beside the schema, which may be hierarchies in ARX's format."""
    return sorted(path.name for path in project.schema_path.parent.glob("*.csv"))[:50]


@posted(show)
def save(request: Request, fields: FormFields) -> Response:
    """Carry out one change: of the tree, of the whole domain, or of its reason."""
    project = project_of(request)
    name = request.path_params["attribute"]
    action = fields.text("action")
    with at_field(action):
        if action not in ACTIONS:
            raise InputError(f"Unknown change {action!r}.")
        ACTIONS[action](project, name, fields)
    return redirect(project, f"domains/{quote(name, safe='')}")


def _node_change(change: Callable[[Tree, FormFields], Tree]) -> Callable[[Project, str, FormFields], object]:
    def carry_out(project: Project, name: str, fields: FormFields) -> Schema:
        return edit_domain(project.schema_path, name, lambda tree: change(tree, fields))

    return carry_out


def _set(project: Project, name: str, fields: FormFields) -> None:
    entry = _ENTRIES[fields.text("kind")](fields) if fields.text("kind") in _ENTRIES else {}
    if not entry:
        raise InputError("Choose a kind of domain.")
    entry |= {key: fields.text(key) for key in ("missing", "outside") if fields.has(key)}
    set_domain(project.schema_path, name, entry)


def _import(project: Project, name: str, fields: FormFields) -> None:
    import_hierarchy(project.schema_path, name, fields.text("file"))


def _confirm(project: Project, name: str, fields: FormFields) -> None:
    state_reason(project.schema_path, name, fields.text("because"))


ACTIONS: Mapping[str, Callable[[Project, str, FormFields], object]] = {
    "add": _node_change(lambda tree, fields: add_node(tree, fields.text("label"), fields.text("below"))),
    "rename": _node_change(lambda tree, fields: rename_node(tree, fields.text("node"), fields.text("label"))),
    "move": _node_change(lambda tree, fields: move_node(tree, fields.text("node"), fields.text("below"))),
    "group": _node_change(lambda tree, fields: group_nodes(tree, fields.all("nodes"), fields.text("label"))),
    "remove": _node_change(lambda tree, fields: remove_node(tree, fields.text("node"))),
    "set": _set,
    "import": _import,
    "confirm": _confirm,
}


def _edges(fields: FormFields) -> dict[str, Any]:
    return {"numeric": {"edges": [each for each in re.split(r"[\s,;]+", fields.text("edges")) if each]}}


def _date(fields: FormFields) -> dict[str, Any]:
    stated = {"from": fields.text("from"), "to": fields.text("to"), "step": fields.text("date_step")}
    return {"date": {**stated, **({"format": fields.text("format")} if fields.has("format") else {})}}


def _prefix(fields: FormFields) -> dict[str, Any]:
    levels = [each for each in re.split(r"[\s,;]+", fields.text("levels")) if each]
    source = {"codes": fields.lines("codes")} if fields.has("codes") else {"pattern": fields.text("pattern")}
    return {
        "prefix": {"levels": levels, **source, **({"ignore": fields.text("ignore")} if fields.has("ignore") else {})}
    }


def _boolean(fields: FormFields) -> dict[str, Any]:
    texts = {"false": fields.lines("false"), "true": fields.lines("true")}
    return {"boolean": texts if any(texts.values()) else True}


_ENTRIES: Mapping[str, Callable[[FormFields], dict[str, Any]]] = {
    "numeric": lambda fields: {"numeric": {key: fields.text(key) for key in ("low", "high", "step")}},
    "edges": _edges,
    "taxonomy": lambda fields: {"taxonomy": {"Any": dict.fromkeys(fields.lines("labels"))}},
    "ordered": lambda fields: {"ordered": fields.lines("labels")},
    "date": _date,
    "prefix": _prefix,
    "boolean": _boolean,
}


def _commands(project: Project, name: str, entry: Mapping[str, Any], tree: Tree | None) -> tuple[str, ...]:
    """One command for each form of the page, with values of this domain."""
    schema = project.run.schema_path
    reason = entry.get(REASON_KEY, REASON)
    confirm = ["confirm", schema, name] if entry.get("unconfirmed") else ["edit", schema, name]
    stated = {key: value for key, value in entry.items() if key not in (REASON_KEY, "unconfirmed", "column")}
    written = _on_one_line(stated)
    whole = written if stated and len(written) <= LONGEST_DOMAIN else DOMAIN
    changes = [["--domain", whole]] if tree is None else [*_node_words(tree), ["--domain", whole]]
    edits = (line("schema", "edit", schema, name, *words) for words in changes)
    return (*((line("schema", *confirm, "--because", reason),) if entry else ()), *edits)


def _node_words(tree: Tree) -> list[list[str]]:
    """The changes of a tree, as options, each at the first nodes where it is possible."""
    root, first = tree.root.label, tree.root.children[0].label
    pair = [child.label for child in tree.root.children[:2]]
    inner = next((child.label for child in tree.root.children[1:] if child.children), root)
    return [
        ["--add", LABEL, root],
        ["--rename", first, LABEL],
        ["--move", first, inner],
        ["--group", LABEL, *(word for label in pair for word in ("--values", label))],
        ["--remove", first],
        ["--hierarchy", FILE],
    ]


def _on_one_line(entry: Any) -> str:
    """A domain as `schema edit --domain` reads it, on one line. In a schema file, a leaf has an empty value."""
    if isinstance(entry, Mapping):
        return (
            "{"
            + ", ".join(
                f"{json.dumps(str(key), ensure_ascii=False)}: {_on_one_line(value)}" for key, value in entry.items()
            )
            + "}"
        )
    if isinstance(entry, list | tuple):
        return "[" + ", ".join(map(_on_one_line, entry)) + "]"
    if isinstance(entry, bool):
        return str(entry).lower()
    return "" if entry is None else json.dumps(str(entry), ensure_ascii=False)
