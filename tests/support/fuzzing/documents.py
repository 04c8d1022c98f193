"""Targets that read one document: schema, hierarchy, agreement, noise model, tree model, signature, key, transcript,
query."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import scumble
from fuzzing import mutation
from fuzzing.plain_yaml_changes import plain_or_text
from fuzzing.target import Run, Target
from scumble.files.hierarchy_file import read_hierarchy
from scumble.files.noise_file import read_noise
from scumble.files.schema_file import read_schema
from scumble.files.signature import SIGNATURE, check_signature, read_public_key, read_signing_key, sign_folder
from scumble.flows.mine import predict
from scumble.joint.session.agreement import read_agreement
from scumble.joint.session.transcript import read_transcript
from scumble.mining.tree_model import TreeModel

SCHEMA_PAGE = Path(__file__).resolve().parents[3] / "docs" / "schema.md"
HIERARCHIES = (
    b"Engineer;Office;Any\nLawyer;Office;Any\nDancer;Stage;Any\n",
    b"a,b\nc,b\n",
    b'"a;b";x;"top ""one"""\r\n"c\nd";x;"top ""one"""\r\n',
    "\ufeffKöln;Rheinland;*\nBonn;Rheinland;*\nWien;Wien;*\n".encode(),
    b"x\n",
)
QUESTIONS = (
    "age < 40 and job in ('Engineer', Lawyer)",
    "not (age between 10 and 30 or income = yes)",
    "job is missing or `age` >= 1e1",
    "\"job\" != 'Dancer' AND income <> no",
    "age not in (10, 20, 30.5)",
    "",
)
MODEL_ROWS = "age,job,income\n31,Engineer,no\n,Lawyer,yes\n77,,no\nx,Dancer,\n"


def file_reader(name: str, read: Callable[[Path], Any]) -> Callable[[], Run]:
    """A target that writes each input to a file and reads it."""

    def prepare() -> Run:
        path = Path(name).absolute()

        def run(data: bytes) -> None:
            path.write_bytes(data)
            read(path)

        return run

    return prepare


def schemas() -> list[bytes]:
    """All examples of the page on schemas."""
    return [block.encode() for block in re.findall(r"```yaml\n(.*?)```", SCHEMA_PAGE.read_text("utf-8"), re.DOTALL)]


def _read_model(path: Path) -> None:
    model = TreeModel.read(path)
    Path("rows.csv").write_text(MODEL_ROWS)
    for _ in predict(model, "rows.csv"):
        pass


def _signature() -> Run:
    seal = "ab" * 32
    key_file = Path("key.pem")
    folder = Path("signed")
    folder.mkdir()
    key_file.write_bytes(_private_key())
    key_file.chmod(0o600)
    sign_folder(folder, seal, read_signing_key(key_file))

    def run(data: bytes) -> None:
        (folder / SIGNATURE).write_bytes(data)
        check_signature(folder, {"seal": seal}, None)

    return run


def _keys(path: Path) -> None:
    path.chmod(0o600)
    if path.read_bytes()[:60].count(b"PRIVATE"):
        read_signing_key(path)
    else:
        read_public_key(path)


def _private_key() -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _public_key() -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _query(folder: Path) -> Callable[[], Run]:
    def prepare() -> Run:
        release = scumble.load_release(folder)

        def run(data: bytes) -> None:
            """The condition, and after line breaks a group, a mean and a quantile."""
            where, by, mean, quantile = (*data.decode("utf-8", "surrogatepass").split("\n\n"), "", "", "")[:4]
            scumble.query(
                release,
                where,
                by=by or (),
                mean=mean or None,
                quantile=(float(quantile), "age") if re.fullmatch(r"-?[0-9]{1,3}(\.[0-9]{1,5})?", quantile) else None,
            )

        return run

    return prepare


def _questions() -> list[bytes]:
    more = ("\n\nage:10", "\n\njob", "\n\n\n\nage", "\n\n\n\n\n\n0.5", "")
    return [f"{question}{end}".encode() for question in QUESTIONS for end in more]


def _decodable(random: Random, data: bytes) -> bytes:
    return mutation.text(random, data).decode("utf-8", "replace").encode()


def _transcript(random: Random, data: bytes) -> bytes:
    """Change a transcript; in half of the inputs the hash chain fits again."""
    from scumble.joint.session.transcript import _chained

    if random.random() < 0.3:
        return mutation.text(random, data)
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    lines[place] = mutation.document(random, lines[place])
    head = ""
    for number, line in enumerate(lines):
        try:
            entry = json.loads(line)
            entry.pop("chain", None)
            head = _chained(head, entry)
            lines[number] = json.dumps({**entry, "chain": head}).encode()
        except (ValueError, AttributeError, TypeError, RecursionError):
            continue
    return b"\n".join(lines)


def document_targets(made: Path) -> Iterator[Target]:
    """The targets, with seeds from a folder of releases that `fuzzing.seeds` made."""
    yield Target(
        name="schema",
        reads="schema YAML",
        seeds=schemas(),
        mutate=mutation.text,
        prepare=file_reader("schema.yaml", read_schema),
    )
    yield Target(
        name="hierarchy",
        reads="hierarchy CSV",
        seeds=HIERARCHIES,
        mutate=mutation.text,
        prepare=file_reader("hierarchy.csv", read_hierarchy),
    )
    yield Target(
        name="agreement",
        reads="agreement of a joint release",
        seeds=[(made / "agreement.yaml").read_bytes()],
        mutate=plain_or_text,
        prepare=file_reader("agreement.yaml", read_agreement),
    )
    yield Target(
        name="noise",
        reads="noise.json",
        seeds=[path.read_bytes() for path in sorted(made.glob("perturbed*/noise.json"))],
        mutate=mutation.json_or_text,
        prepare=file_reader("noise.json", read_noise),
    )
    yield Target(
        name="model",
        reads="model.json, and a prediction with it",
        seeds=[path.read_bytes() for path in sorted(made.glob("model*.json"))],
        mutate=mutation.json_or_text,
        prepare=file_reader("model.json", _read_model),
    )
    yield Target(
        name="query",
        reads="query expressions, groups and measures",
        seeds=_questions(),
        mutate=_decodable,
        prepare=_query(made / "cells"),
    )
    yield Target(
        name="signature",
        reads="signature.json",
        seeds=[(made / "cells-signed" / SIGNATURE).read_bytes()],
        mutate=mutation.json_or_text,
        prepare=_signature,
    )
    yield Target(
        name="key",
        reads="public and private keys",
        seeds=[_public_key(), _private_key()],
        mutate=mutation.text,
        prepare=file_reader("key.pem", _keys),
    )
    yield Target(
        name="transcript",
        reads="transcript of a joint run",
        seeds=[(made / "transcript.jsonl").read_bytes()],
        mutate=_transcript,
        prepare=file_reader("transcript.jsonl", read_transcript),
    )
