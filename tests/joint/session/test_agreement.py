"""The agreement: what it refuses, that its hash covers every field, and that private keys stay with their parties."""

import stat
from pathlib import Path
from typing import Any

import pytest
from command_line import SCHEMA, contents, scumble
from hypothesis import given
from hypothesis import strategies as st

from scumble.errors import InputError
from scumble.files.schema_file import parse_schema, schema_data
from scumble.flows.join_plan import prepare, write_agreement
from scumble.joint.network.certificates import check_key, make_key
from scumble.joint.session.agreement import Address, Agreement, agreement_from, differing_fields, parse_agreement


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("keys")
    names = ("north", "south", "west", "aggregator")
    return {
        "session": "0123456789abcdef" * 2,
        "method": "diffgen",
        "parameters": {"epsilon": "1"},
        "threshold": 1,
        "rows_at_most": 1000,
        "deadlines": {},
        "parties": {
            name: {
                "address": f"127.0.0.1:{7001 + number}",
                "owner": name != "aggregator",
                "computes": name != "west",
                "certificate": make_key(name, folder / name),
            }
            for number, name in enumerate(names)
        },
        "schema": schema_data(parse_schema(SCHEMA)),
    }


def with_party(data: dict[str, Any], name: str, **changes: Any) -> dict[str, Any]:
    return {**data, "parties": {**data["parties"], name: {**data["parties"][name], **changes}}}


def without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {**data, "parties": {name: party for name, party in data["parties"].items() if name not in names}}


# --------------------------------------------------------------------------------------------------------- the file


def test_an_agreement_reads_back_as_it_was_written(data: dict[str, Any]) -> None:
    agreement = agreement_from(data)
    again = parse_agreement(agreement.text())
    assert (again.text(), again.digest, again.schema_) == (agreement.text(), agreement.digest, agreement.schema_)
    assert (
        parse_agreement("# a comment\n" + agreement.text().replace("  owner", "  owner", 1)).digest == agreement.digest
    )


CHANGES = {
    "session": lambda data: {**data, "session": "f" * 32},
    "method": lambda data: {**data, "method": "histograms"},
    "parameters > epsilon": lambda data: {**data, "parameters": {"epsilon": "2"}},
    "parameters > rounds": lambda data: {**data, "parameters": {"epsilon": "1", "rounds": "3"}},
    "rows_at_most": lambda data: {**data, "rows_at_most": 1001},
    "parties > south > rows_at_most": lambda data: with_party(data, "south", rows_at_most=7),
    "deadlines > stall": lambda data: {**data, "deadlines": {"stall": 7}},
    "parties > north > address": lambda data: with_party(data, "north", address="127.0.0.1:8000"),
    "parties > west > computes": lambda data: with_party(data, "west", computes=True),
    "schema > target": lambda data: {**data, "schema": {**data["schema"], "target": "job"}},
    "schema > rows_at_most": lambda data: {**data, "schema": {**data["schema"], "rows_at_most": 5}},
}


@pytest.mark.parametrize("field", CHANGES)
def test_the_hash_covers_every_field_and_the_fields_show_which_one_differs(data: dict[str, Any], field: str) -> None:
    ours, theirs = agreement_from(data), agreement_from(CHANGES[field](data))
    assert ours.digest != theirs.digest
    found = differing_fields(ours.fields(), theirs.fields())
    assert field in found
    assert len(found) == 1 or field == "schema > target"


def test_the_order_of_parties_and_of_attributes_is_part_of_it(data: dict[str, Any]) -> None:
    ours = agreement_from(data)
    turned = agreement_from({**data, "parties": dict(reversed(data["parties"].items()))})
    assert differing_fields(ours.fields(), turned.fields()) == ["the order of parties"]
    schema = {**data["schema"], "attributes": dict(reversed(data["schema"]["attributes"].items()))}
    assert differing_fields(ours.fields(), agreement_from({**data, "schema": schema}).fields()) == [
        "schema > the order of attributes"
    ]


def refused(data: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        agreement_from(data)
    return str(caught.value)


def test_roles_that_cannot_keep_a_secret_are_refused(data: dict[str, Any]) -> None:
    assert "it must be 3 to 7" in refused(without(data, "aggregator"))
    assert "it must be 3 to 7" in refused(with_party(data, "south", computes=False))
    assert "at least two owners" in refused(with_party(without(data, "west"), "south", owner=False))
    for threshold in (0, -1, 2):
        assert "The threshold is" in refused({**data, "threshold": threshold})
    assert "must own rows or compute" in refused(with_party(data, "west", owner=False))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"session": "short"}, "session"),
        ({"rows_at_most": 0}, "rows_at_most"),
        ({"rows_at_most": 2**40 + 1}, "rows_at_most"),
        ({"deadlines": {"silence": 1}}, "silence"),
        ({"deadlines": {"patience": 1}}, "unknown key"),
        ({"colour": "red"}, "unknown key"),
        ({"schema": {"scumble": "schema/1", "attributes": {}}}, "no attribute"),
        ({"scumble": "agreement/2"}, "agreement/1"),
    ],
)
def test_the_message_names_what_is_wrong(data: dict[str, Any], change: dict[str, Any], words: str) -> None:
    assert words in refused({**data, **change})


def test_parties_have_different_addresses_and_certificates(data: dict[str, Any]) -> None:
    assert "same address" in refused(with_party(data, "south", address="127.0.0.1:7001"))
    same = data["parties"]["north"]["certificate"]
    assert "same certificate" in refused(with_party(data, "south", certificate=same))
    for wrong in ("", "-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n", same + same):
        assert "certificate" in refused(with_party(data, "south", certificate=wrong))


@given(st.text(max_size=30))
def test_addresses_read_back_or_are_refused(text: str) -> None:
    try:
        address = Address.parse(text)
    except InputError:
        return
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    "text", ["host", "host:", ":1", "::1:7001", "host:0", "host:65536", "host:x", "host:-1", "[::1]"]
)
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Address.parse(text)


def test_the_agreement_states_the_trust_assumptions(data: dict[str, Any]) -> None:
    trust = " ".join(agreement_from(data).trust)
    assert "aggregator together with one owner could see everything" in trust
    assert "rely on the computing parties: west." in trust
    assert "aggregator together" not in " ".join(agreement_from(with_party(data, "aggregator", owner=True)).trust)
    assert "aggregator together with one owner" in agreement_from(data).text()


# -------------------------------------------------------------------------------------------------------------- keys


def test_a_private_key_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    certificate = make_key("north", tmp_path / "north")
    key = tmp_path / "north" / "key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert "PRIVATE" not in certificate
    check_key(key, certificate)
    with pytest.raises(InputError, match="never overwritten"):
        make_key("north", tmp_path / "north")
    check_key(key, certificate)
    with pytest.raises(InputError, match="does not belong"):
        check_key(key, make_key("north", tmp_path / "again"))
    key.chmod(0o640)
    with pytest.raises(InputError, match="can be read by other users"):
        check_key(key, certificate)
    with pytest.raises(InputError, match="cannot be read"):
        check_key(tmp_path / "nowhere", certificate)
    (tmp_path / "text").write_text("no key")
    (tmp_path / "text").chmod(0o600)
    with pytest.raises(InputError, match="not a private key"):
        check_key(tmp_path / "text", certificate)


# ------------------------------------------------------------------------------------------------------ command line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return tmp_path


INIT = ["join", "init", "--schema", "schema.yaml", "--epsilon", "1", "--out", "agreed"]
THREE = [
    word for number, name in enumerate(["north", "south", "east"]) for word in ("--party", f"{name}=host:{number + 1}")
]


def test_init_makes_an_agreement_with_keys_that_plan_reads(folder: Path) -> None:
    made = scumble(*INIT, *THREE[:4], "--aggregator", "[::1]:9", "--rows-at-most", "500", "--json").json
    assert made["parties"] == ["north", "south", "aggregator"]
    joint = prepare(folder / "agreed" / "agreement.yaml")
    assert (joint.agreement.rows_at_most, joint.agreement.threshold) == (500, 1)
    for name in made["parties"]:
        check_key(folder / "agreed" / name / "key.pem", joint.agreement.parties[name].certificate)
        assert stat.S_IMODE((folder / "agreed" / name).stat().st_mode) == 0o700
    assert "PRIVATE KEY" not in (folder / "agreed" / "agreement.yaml").read_text()
    planned = scumble("join", "plan", "--agreement", "agreed/agreement.yaml", "--json").json
    assert planned["hash"] == made["hash"]
    assert (planned["guarantee"]["kind"], planned["guarantee"]["coalition"]) == ("JointDP", 1)
    printed = scumble("join", "plan", "--agreement", "agreed/agreement.yaml")
    assert "aggregator together with one owner could see everything" in printed.out


def test_owners_state_bounds_and_others_have_the_common_one(folder: Path) -> None:
    words = ["--rows-at-most", "500", "--owner-rows-at-most", "south=70"]
    assert scumble(*INIT, *THREE[:4], "--aggregator", "[::1]:9", *words).code == 0
    agreement = prepare(folder / "agreed" / "agreement.yaml").agreement
    assert (agreement.bounds, agreement.records_at_most) == ({0: 500, 1: 70}, 570)


def test_an_agreement_with_a_single_bound_gives_it_to_every_owner(data: dict[str, Any]) -> None:
    """Agreements of earlier versions: their bound was for all owners together, so no owner has more."""
    agreement = agreement_from(data)
    assert (agreement.bounds, agreement.records_at_most) == ({0: 1000, 1: 1000, 2: 1000}, 3000)
    assert agreement.digest == agreement_from(with_party(data, "north", rows_at_most=None)).digest
    assert "without rows has no `rows_at_most`" in refused(with_party(data, "aggregator", rows_at_most=5))
    assert "rows_at_most" in refused(with_party(data, "north", rows_at_most=0))


def test_a_party_can_create_its_own_key(folder: Path) -> None:
    for name in ("north", "south", "east"):
        assert scumble("join", "key", "--party", name, "--out", f"home-{name}").code == 0
    certificates = [
        word for name in ("north", "south", "east") for word in ("--certificate", f"{name}=home-{name}/certificate.pem")
    ]
    assert scumble(*INIT, *THREE, *certificates).code == 0
    assert [path.name for path in (folder / "agreed").iterdir()] == ["agreement.yaml"]
    for name, party in prepare(folder / "agreed" / "agreement.yaml").agreement.parties.items():
        check_key(folder / f"home-{name}" / "key.pem", party.certificate)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (THREE[:4], "it must be 3 to 7"),
        ([*THREE, "--threshold", "0"], "The threshold is 0"),
        ([*THREE, "--threshold", "2"], "The threshold is 2"),
        ([*THREE, "--score", "gini"], "needs division"),
        ([*THREE, "--selection", "published"], "published mode"),
        ([*THREE, "--method", "nothing"], "Unknown method"),
        ([*THREE[:4], "--party", "east"], "not of the form"),
        ([*THREE, "--party", "north=host:9"], "twice"),
        ([*THREE, "--certificate", "west=schema.yaml"], "not a party"),
        ([*THREE, "--certificate", "north=schema.yaml"], "certificate"),
        ([*THREE, "--certificate", "north=nowhere.pem"], "nowhere.pem"),
        ([*THREE, "--rows-at-most", "0"], "rows_at_most"),
        ([*THREE, "--owner-rows-at-most", "west=5"], "not a party"),
        ([*THREE, "--owner-rows-at-most", "north=many"], "not a whole number"),
        ([*THREE, "--owner-rows-at-most", "north=0"], "rows_at_most"),
    ],
)
def test_an_invalid_agreement_leaves_nothing_behind(folder: Path, words: list[str], says: str) -> None:
    before = contents(folder, folder / "ledger.db")
    ended = scumble(*INIT, *words)
    assert ended.code == 2
    assert says in ended.error
    assert contents(folder, folder / "ledger.db") == before


def test_a_unit_that_makes_the_number_of_rows_public_is_refused(folder: Path) -> None:
    (folder / "schema.yaml").write_text(SCHEMA.replace("target", "unit: replace\nrows: 10\ntarget"))
    assert "unit: add-remove" in scumble(*INIT, *THREE).error


def test_init_overwrites_nothing(folder: Path) -> None:
    (folder / "agreed").mkdir()
    assert "never overwritten" in scumble(*INIT, *THREE).error


def test_a_taxonomy_in_a_separate_file_becomes_part_of_the_agreement(folder: Path) -> None:
    (folder / "job.csv").write_text("Engineer;White;Any\nLawyer;White;Any\nDancer;Blue;Any\nWriter;Blue;Any\n")
    line = "  job: {taxonomy: {Any: {White: {Engineer: , Lawyer: }, Blue: {Dancer: , Writer: }}}}"
    assert line in SCHEMA
    (folder / "schema.yaml").write_text(SCHEMA.replace(line, "  job: {taxonomy: {csv: job.csv}}"))
    parties = {name: {"address": f"host:{n}", "owner": True, "computes": True} for n, name in enumerate("abc", start=1)}
    path = write_agreement(
        folder / "here", schema=folder / "schema.yaml", parties=parties, parameters={"epsilon": 1}, rows_at_most=9
    )
    (folder / "job.csv").unlink()
    agreement: Agreement = prepare(path).agreement
    assert agreement.schema_ == parse_schema(SCHEMA)


def test_run_refuses_before_it_connects(folder: Path) -> None:
    assert scumble(*INIT, *THREE).code == 0
    run = ["join", "run", "--agreement", "agreed/agreement.yaml", "--out", "out"]
    (folder / "people.csv").write_text("age,job,income\n")
    assert "has no party 'west'" in scumble(*run, "--party", "west").error
    assert "Give its table with --data" in scumble(*run, "--party", "north").error
    wrong = folder / "wrong.csv"
    wrong.write_text("age,income\n")
    assert scumble(*run, "--party", "north", "--data", "wrong.csv").code == 2
    assert "Unknown engine" in scumble(*run, "--party", "north", "--data", "people.csv", "--engine", "abacus").error
    assert "does not exist" in scumble("join", "run", "--agreement", "x", "--out", "out", "--party", "a").error
    assert "no run to abandon" in scumble(*run, "--party", "north", "--abandon").error
    assert not (folder / "out").exists()
