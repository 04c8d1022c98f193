"""The parts of a ledger outside its entries: accounts, key files, and what the witness says at the opening."""

from fractions import Fraction
from pathlib import Path

import pytest

from scumble.errors import CheckError, InputError, ScumbleError
from scumble.model.guarantee import Unit
from scumble.privacy.ledger_account import Account, no_room
from scumble.privacy.ledger_charge import Cost
from scumble.privacy.ledger_entries import EntryChain, Head, identity_of
from scumble.privacy.ledger_key import key_file, new_key, read_key, store_key
from scumble.privacy.ledger_opening import Opening, declaration
from scumble.privacy.ledger_witness import Seen
from scumble.privacy.open_ledger import refuse_missing

KEY = bytes(range(32))
IDENTITY = identity_of(KEY)


def account(spent: str, ceiling: str, delta: str = "0") -> Account:
    return Account(unit=Unit.REPLACE, ceiling=Fraction(ceiling), spent=Fraction(spent), ceiling_delta=Fraction(delta))


@pytest.mark.parametrize(
    ("price", "fits"), [(("1", "0"), True), (("1.1", "0"), False), (("1", "1/8"), True), (("0", "1/4"), False)]
)
def test_an_account_has_room_up_to_both_ceilings(price: tuple[str, str], fits: bool) -> None:
    cost = Cost(epsilon=Fraction(price[0]), delta=Fraction(price[1]))
    found = account("1", "2", "1/8")
    assert found.has_room(cost) is fits
    refusal, granted = no_room("adult", found, cost, "")
    assert "has spent 1 of its ceiling of 2" in refusal
    assert Fraction(granted.split()[0]) >= found.spent + cost.epsilon


def test_a_key_is_stored_once_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    store_key(path, KEY)
    store_key(path, KEY)
    assert read_key(path, IDENTITY) == KEY
    with pytest.raises(InputError, match="not overwritten"):
        store_key(path, bytes(32))
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.db.key"]


def test_a_key_that_no_ledger_uses_is_adopted_and_a_used_one_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    store_key(path, KEY)
    assert new_key(path, lambda: bytes(32), is_used=lambda identity: False) == KEY
    assert new_key(path, lambda: bytes(32), is_used=lambda identity: identity == IDENTITY) == bytes(32)
    assert len(list(tmp_path.glob(f"ledger.db.key.{IDENTITY[:16]}"))) == 1


def test_an_unfinished_key_file_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    key_file(path, IDENTITY).with_name("ledger.db.key-unfinished").write_bytes(b"scumble-ledger")
    assert new_key(path, lambda: KEY, is_used=lambda identity: False) == KEY
    assert read_key(path, IDENTITY) == KEY


def test_a_key_that_cannot_be_written_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SCUMBLE_LEDGER_KEYS", str(tmp_path / "file" / "keys"))
    with pytest.raises(ScumbleError, match=r"cannot be written.*SCUMBLE_LEDGER_KEYS"):
        store_key(tmp_path / "ledger.db", KEY)


# ----------------------------------------------------------------------------------------------------------- opening


def chain(*datasets: str) -> EntryChain:
    made = EntryChain(KEY)
    made.write(time="t", kind="ledger", dataset="", body={"event": "created", "identity": IDENTITY})
    for name in datasets:
        made.write(time="t", kind="open", dataset=name, body={"unit": "replace", "ceiling": "1"})
    return made


def seen(head: Head, path: str = "ledger.db") -> Seen:
    return Seen(head=head, path=Path(path), time="2026")


def opening(at_path: Seen | None, *, missing: bool = False, reason: str | None = None) -> Opening:
    return Opening(path=Path("ledger.db"), witness=Path("w.db"), at_path=at_path, reason=reason, missing=missing)


def test_every_state_that_a_chain_passed_through_is_found_in_it() -> None:
    whole = chain("a", "b", "c")
    for names in ((), ("a",), ("a", "b"), ("a", "b", "c")):
        known = seen(chain(*names).head)
        assert opening(known).lost(whole, known) == []


@pytest.mark.parametrize("names", [("a", "b", "x"), ("a", "b", "c", "d"), ("x",)])
def test_every_other_state_is_lost_until_it_is_declared(names: tuple[str, ...]) -> None:
    whole, known = chain("a", "b", "c"), seen(chain(*names).head)
    assert opening(known).lost(whole, known) == [known]
    assert "--new-ledger" in str(opening(known).refusal(whole, [known]))
    body = {"event": "accepted", "identity": IDENTITY, **declaration("a reason", [known])}
    whole.write(time="t", kind="ledger", dataset="", body=body)
    assert opening(known).lost(whole, known) == []


def test_another_ledger_at_the_path_is_a_loss() -> None:
    other = seen(Head(identity="other", sequence=1, hash="h"))
    assert opening(other).lost(chain("a"), None) == [other]


@pytest.mark.parametrize(
    ("kind", "body", "reason"),
    [
        ("ledger", {"event": "created", "identity": IDENTITY}, "created exactly once"),
        ("ledger", {"event": "accepted", "identity": "other"}, "not an event of this ledger"),
        ("ledger", {"event": "refunded", "identity": IDENTITY}, "not an event of this ledger"),
        ("ledger", {"event": "accepted", "identity": IDENTITY, "lost": [{}]}, "cannot be read"),
        ("ledger", {"event": "accepted", "identity": IDENTITY, "lost": 3}, "cannot be read"),
    ],
)
def test_an_event_that_breaks_a_rule_is_refused(kind: str, body: dict[str, object], reason: str) -> None:
    with pytest.raises(CheckError, match=reason):
        chain("a").write(time="t", kind=kind, dataset="", body=body)


def test_an_event_belongs_to_no_dataset() -> None:
    with pytest.raises(CheckError, match="names a dataset"):
        chain("a").write(time="t", kind="ledger", dataset="a", body={"event": "accepted", "identity": IDENTITY})


def test_a_missing_ledger_that_nobody_saw_is_no_loss_and_makes_no_witness(tmp_path: Path) -> None:
    refuse_missing(tmp_path / "ledger.db", tmp_path / "witness.db")
    assert list(tmp_path.iterdir()) == []
