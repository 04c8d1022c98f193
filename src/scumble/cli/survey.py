"""`scumble survey`: a questionnaire whose answers are perturbed in the browser of the person who answers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from scumble.cli.options import Json, choice, names_of, with_strength_options
from scumble.cli.output import err, print_guarantee, print_json, print_text
from scumble.errors import InputError
from scumble.installation import needing
from scumble.mining.tree_model import TreeModel
from scumble.survey.beginning import add_records, begin_survey, build_pages, withdraw_records, write_invitations
from scumble.survey.closing import close_survey
from scumble.survey.records import CollectedRecords, collecting_folder

survey_app = typer.Typer(
    help="Ask people through a web page that perturbs their answers in the browser, before anything is sent.",
    no_args_is_help=True,
)
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        help="The release to be written when the survey closes; OUT.collected collects until then.",
        show_default=False,
    ),
]
Released = Annotated[Path, typer.Argument(metavar="OUT", help="The --out of the survey.", show_default=False)]
SurveySchema = Annotated[
    Path | None,
    typer.Option("--schema", help="The schema file. Leave it out to continue a survey.", show_default=False),
]
Texts = Annotated[
    Path | None,
    typer.Option(help="A YAML file with title, introduction, consent, and questions by attribute.", show_default=False),
]
Closes = Annotated[
    str | None, typer.Option(help="The last day, such as 2026-12-31 (UTC), or a moment with its time zone.")
]
Invitations = Annotated[
    Path | None, typer.Option(help="A file of `scumble survey invite`: one record for each invitation.")
]
OptionalTruth = Annotated[
    str, typer.Option(help="Questions, separated by commas, to which a person may also send the true answer.")
]
Required = Annotated[
    str,
    typer.Option(help="Questions, separated by commas, that cannot be left unanswered, even if `missing` allows it."),
]
Accept = Annotated[
    list[str] | None,
    choice(("interval",), help="Write `interval` to accept interval privacy, which is not differential privacy."),
]
TreeFile = Annotated[Path | None, typer.Option(help="A tree of `scumble mine train`, to be applied in the browser.")]


@survey_app.command()
@with_strength_options
def serve(
    *,
    out: Out,
    schema: SurveySchema = None,
    texts: Texts = None,
    closes: Closes = None,
    invitations: Invitations = None,
    optional_truth: OptionalTruth = "",
    required: Required = "",
    accept: Accept = None,
    tree: TreeFile = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8000,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Limit senders by X-Forwarded-For, which a reverse proxy sets.")
    ] = False,
    posts_each_minute: Annotated[int, typer.Option(help="Messages that one sender may send in a minute.", min=1)] = 30,
    json: Json = False,
    strength: dict[str, Any],
) -> None:
    """Serve the questionnaire and collect perturbed records, until the server is stopped.

    A closed survey is served, too: its page says that it is closed, and `apply.html` applies the --tree.
    """
    with needing("studio"):
        from scumble.survey.serving import serve_survey

    collected = begin_survey(
        out,
        schema=schema,
        strength=strength,
        accept=accept or (),
        texts=texts,
        closes=closes,
        invitations=invitations,
        truths=names_of(optional_truth),
        required=names_of(required),
    )
    if not json:
        _describe(collected)

    def ready(address: str) -> None:
        if json:
            print_json({"address": address, "collected": str(collected.folder), "records": len(collected)})
        else:
            print_text(f"The survey is at {address} (Ctrl-C stops the server, not the survey).", err)

    serve_survey(
        collected,
        host=host,
        port=port,
        behind_proxy=behind_proxy,
        posts_each_minute=posts_each_minute,
        tree=None if tree is None else TreeModel.read(tree),
        ready=ready,
    )


@survey_app.command()
@with_strength_options
def build(
    *,
    out: Out,
    page: Annotated[Path, typer.Option("--page", help="The folder of pages to create.", show_default=False)],
    schema: SurveySchema = None,
    texts: Texts = None,
    closes: Closes = None,
    optional_truth: OptionalTruth = "",
    required: Required = "",
    accept: Accept = None,
    tree: TreeFile = None,
    json: Json = False,
    strength: dict[str, Any],
) -> None:
    """Write the questionnaire as one static folder. People send their records by any other way."""
    collected = begin_survey(
        out,
        schema=schema,
        strength=strength,
        accept=accept or (),
        texts=texts,
        closes=closes,
        truths=names_of(optional_truth),
        required=names_of(required),
    )
    digests = build_pages(collected, page, tree=None if tree is None else TreeModel.read(tree))
    if json:
        print_json({"page": str(page), "files": digests})
        return
    _describe(collected)
    print_text(f"{page}: open index.html. The SHA-256 of its files, for people who compare them:")
    for name, digest in digests.items():
        print_text(f"  {digest}  {name}")


@survey_app.command()
def invite(
    number: Annotated[int, typer.Argument(help="How many people to invite.", show_default=False)],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to create.", show_default=False)],
    address: Annotated[str, typer.Option(help="The address of the survey: writes links instead of tokens.")] = "",
    json: Json = False,
) -> None:
    """Make invitations: random tokens, each for one record. Send each to one person and keep the file secret."""
    write_invitations(out, number, address)
    if json:
        print_json({"invitations": number, "file": str(out)})
        return
    print_text(f"{out}: {number:,} invitations, one on each line.")


@survey_app.command()
def add(
    out: Released,
    files: Annotated[list[Path], typer.Argument(help="Files that people sent.", show_default=False)],
    *,
    json: Json = False,
) -> None:
    """Add records that people made with the static page and sent as files."""
    collected = CollectedRecords(collecting_folder(out))
    refused = add_records(collected, files)
    stored = len(files) - len(refused)
    if json:
        print_json({"stored": stored, "refused": refused, "records": len(collected)})
    else:
        print_text(f"{stored:,} of {len(files):,} files stored. The survey has {len(collected):,} records.")
        for name, problem in refused.items():
            print_text(f"  {name}: {problem}", err)
    if refused and not stored:
        raise InputError("No file was a record of this survey. Use the files that its page made.")


@survey_app.command(context_settings={"ignore_unknown_options": True})  # a token can begin with a hyphen
def withdraw(
    out: Released,
    tokens: Annotated[
        list[str],
        typer.Argument(metavar="TOKEN...", help="Tokens of the records, which people sent.", show_default=False),
    ],
    *,
    json: Json = False,
) -> None:
    """Delete the records of people who ask for it, until `survey close`. A record's token is in its file."""
    collected = CollectedRecords(collecting_folder(out))
    unknown = withdraw_records(collected, tokens)
    withdrawn = len(tokens) - len(unknown)
    if not withdrawn:
        raise InputError("There is no record with such a token. It may have been withdrawn before.")
    if json:
        print_json({"withdrawn": withdrawn, "unknown": unknown, "records": len(collected)})
        return
    print_text(f"{withdrawn:,} of {len(tokens):,} records deleted. The survey has {len(collected):,} records.")
    for token in unknown:
        print_text(f"  {token}: there is no record with this token.", err)


@survey_app.command()
def status(out: Released, *, json: Json = False) -> None:
    """How many records a survey has, and whether it is open."""
    collected = CollectedRecords(collecting_folder(out))
    state = "closed" if collected.is_closed else "over" if collected.survey.is_over() else "open"
    if json:
        print_json({"records": len(collected), "state": state})
        return
    print_text(f"{collected.folder}: {len(collected):,} records, {state}.")


@survey_app.command()
def close(out: Released, *, json: Json = False) -> None:
    """Close a survey for good: write its records as a release, then overwrite the collected ones."""
    closed = close_survey(out)
    if json:
        print_json(closed.to_json())
        return
    print_text(f"{closed.folder}: {closed.release.records:,} perturbed records.")
    print_guarantee(closed.release.plan.guarantee)
    if closed.truths is not None:
        print_text(f"{closed.truths}: true answers that people chose to send. For the owner only; do not publish them.")


def _describe(collected: CollectedRecords) -> None:
    print_text(f"{collected.folder}: {len(collected):,} records so far.", err)
    print_text(f"Guarantee: {collected.survey.noise.guarantee.sentence}", err)
