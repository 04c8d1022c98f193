"""Transcripts and state folders: hash chains detect every change, and an answer is stored completely or not at all."""

import json
import resource
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from joint_threads import THREE

from scumble.errors import CheckError, InputError, ScumbleError
from scumble.joint.answers import MemoryAnswerLog
from scumble.joint.network.mesh import LocalMesh
from scumble.joint.protocol.session_keys import SessionKeys
from scumble.joint.session.resume import catch_up, establish_keys, exchange_status
from scumble.joint.session.state import State, answers_so_far, open_state
from scumble.joint.session.transcript import Transcript, TranscriptSummary, compare_transcripts, read_transcript

NAMES = ("north", "south", "east")
AGREEMENT = bytes(range(32))


# -------------------------------------------------------------------------------------------------------- transcripts


def salt(sender: int, receiver: int) -> bytes:
    return bytes([sender, receiver]) * 16


def write(folder: Path, *, spoil: Callable[[str, dict[str, Transcript]], None] | None = None) -> list[Path]:
    """Write the transcripts of three parties that exchange some messages and open three values."""
    paths = [folder / f"{name}.jsonl" for name in NAMES]
    transcripts = {
        name: Transcript(path, party=name, names=NAMES, agreement=AGREEMENT)
        for name, path in zip(NAMES, paths, strict=True)
    }
    for transcript in transcripts.values():
        transcript.attempt("first")
    for number in range(4):
        for sender, name in enumerate(NAMES):
            for receiver, other in enumerate(NAMES):
                if sender != receiver:
                    message = f"{number} {name} {other}".encode()
                    transcripts[name].sent(receiver, number, message, salt(sender, receiver))
                    transcripts[other].received(sender, number, message, salt(sender, receiver))
    for name, transcript in transcripts.items():
        for step in range(3):
            transcript.opened(step, "choose a split", bytes([step]))
        if spoil is not None:
            spoil(name, transcripts)
        transcript.close(finished=True)
    return paths


def test_transcripts_of_one_attempt_fit_together(tmp_path: Path) -> None:
    north, south, east = map(read_transcript, write(tmp_path))
    assert (
        compare_transcripts(north, south) == compare_transcripts(south, east) == compare_transcripts(east, north) == 8
    )
    assert (north.bytes_sent, north.bytes_received, north.end, len(north.opened)) == (
        8 * 13 - 4,
        8 * 13 - 4,
        "finished",
        3,
    )


def test_a_guessed_message_cannot_be_confirmed_from_its_hash(tmp_path: Path) -> None:
    """A third party that guesses a message cannot confirm the guess with the salts of its own connections."""
    north, _, _ = map(read_transcript, write(tmp_path))
    _, digest = north.messages["north", "south", 0]
    known = [b"", *(salt(one, other) for one in range(3) for other in range(3) if 2 in (one, other))]
    assert digest == sha256(salt(0, 1) + b"0 north south").hexdigest()
    assert digest not in {sha256(each + b"0 north south").hexdigest() for each in known}


def test_every_change_of_a_transcript_is_detected(tmp_path: Path) -> None:
    path, *_ = write(tmp_path)
    content = path.read_bytes()
    whole = read_transcript(path)
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises((CheckError, InputError)):
            read_transcript(path)
    lines = content.splitlines(keepends=True)
    for place in range(1, len(lines)):
        changed = [lines[:place] + lines[place + 1 :], lines[: place + 1] + lines[place:]]
        for attempt in changed if place < len(lines) - 1 else changed[1:]:
            path.write_bytes(b"".join(attempt))
            with pytest.raises(CheckError):
                read_transcript(path)
    path.write_bytes(content)
    assert read_transcript(path) == whole


def test_a_truncated_transcript_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    north, south, _ = write(tmp_path)
    lines = north.read_bytes().splitlines(keepends=True)
    north.write_bytes(b"".join(lines[:10]) + lines[10][:20])
    summary = read_transcript(north)
    assert (summary.end, len(summary.messages)) == (None, 8)
    assert compare_transcripts(summary, read_transcript(south)) == 4


def rewritten(path: Path, change: Callable[[list[dict[str, object]]], None], tmp_path: Path) -> TranscriptSummary:
    """A transcript with other contents and a valid chain."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    change(entries)
    forged = tmp_path / "forged.jsonl"
    forged.unlink(missing_ok=True)
    start, *rest = entries
    transcript = Transcript(forged, party=start["party"], names=NAMES, agreement=bytes.fromhex(start["agreement"]))
    for entry in rest:
        entry.pop("chain")
        transcript._write(**entry)
    transcript.close(finished=True)
    text = forged.read_text().splitlines(keepends=True)
    forged.write_text("".join(text[:-1]))  # `close` wrote a second end
    return read_transcript(forged)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda entries: entries[2].update(sha256="0" * 64), "disagree on message"),
        (lambda entries: entries[2].update(length=1), "disagree on message"),
        (lambda entries: entries[-2].update(answer="ff"), "opened different values at step 2"),
        (lambda entries: entries.pop(-2), "opened different numbers of values"),
        (lambda entries: entries.pop(-5), "Only one transcript contains message"),
    ],
)
def test_a_comparison_detects_a_forged_transcript(
    tmp_path: Path, change: Callable[[list[dict[str, object]]], None], words: str
) -> None:
    north, south, east = write(tmp_path)
    forged = rewritten(north, change, tmp_path)
    with pytest.raises(CheckError, match=words):
        _ = [compare_transcripts(forged, read_transcript(other)) for other in (south, east)]


def test_only_transcripts_that_belong_together_are_compared(tmp_path: Path) -> None:
    north, south, _ = write(tmp_path)
    with pytest.raises(InputError, match="two parties"):
        compare_transcripts(read_transcript(north), read_transcript(north))
    other = rewritten(south, lambda entries: entries[1].update(attempt="second"), tmp_path)
    with pytest.raises(InputError, match="not from the same attempt"):
        compare_transcripts(read_transcript(north), other)
    (tmp_path / "text").write_text("hello\n")
    with pytest.raises((CheckError, InputError)):
        read_transcript(tmp_path / "text")
    with pytest.raises(InputError):
        read_transcript(tmp_path / "nowhere")


# ------------------------------------------------------------------------------------------------------ state folders


def recorded(folder: Path, number: int) -> None:
    with open_state(folder, agreement=AGREEMENT, party="north") as state:
        for step in range(len(state.answers), number):
            state.keep(step, f"spend {step}", bytes([step]) * 20)


def test_answers_are_found_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    recorded(folder, 5)
    with open_state(folder, agreement=AGREEMENT, party="north") as state:
        assert [state.recall(step) for step in range(6)] == [*(bytes([step]) * 20 for step in range(5)), None]
        state.mark(charging=True, keys_id="ab")
        with (
            pytest.raises(InputError, match="Another process is using"),
            open_state(folder, agreement=AGREEMENT, party="north"),
        ):
            pass
    assert answers_so_far(folder) == 5
    with open_state(folder, agreement=AGREEMENT, party="north") as state:
        assert (state.marks.charging, state.marks.keys_id, state.marks.begun) == (True, "ab", False)
    for other in ({"agreement": bytes(32), "party": "north"}, {"agreement": AGREEMENT, "party": "south"}):
        with pytest.raises(InputError, match="another agreement or party"), open_state(folder, **other):
            pass


def test_steps_are_recorded_in_order_and_once(tmp_path: Path) -> None:
    with open_state(tmp_path / "state", agreement=AGREEMENT, party="north") as state:
        state.keep(0, "x", b"x")
        for step in (0, 2):
            with pytest.raises(ScumbleError):
                state.keep(step, "x", b"y")


def test_an_incomplete_last_line_is_dropped_and_every_other_change_refused(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    recorded(folder, 3)
    path = folder / "answers.jsonl"
    content = path.read_bytes()
    last = content[: content[:-1].rindex(b"\n") + 1]
    for length in range(len(last), len(content)):
        path.write_bytes(content[:length])
        with open_state(folder, agreement=AGREEMENT, party="north") as state:
            assert len(state.answers) == 2
        assert path.read_bytes() == last
    for place in range(0, len(content), 5):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InputError, match="was changed"), open_state(folder, agreement=AGREEMENT, party="north"):
            pass


def test_on_a_full_disk_no_part_of_an_answer_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    recorded(folder, 2)
    path = folder / "answers.jsonl"
    content = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_state(folder, agreement=AGREEMENT, party="north") as state:
        for room in (0, 1, 50):
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) + room, limits[1]))
            try:
                with pytest.raises(OSError, match="File too large"):
                    state.keep(2, "label", b"answer" * 10)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            assert path.read_bytes() == content
            assert state.recall(2) is None
        state.keep(2, "label", b"answer" * 10)
    assert path.read_bytes().startswith(content)


def test_keys_that_were_used_are_never_replaced(tmp_path: Path) -> None:
    with open_state(tmp_path / "state", agreement=AGREEMENT, party="north") as state:
        state.keep_keys("first", "01")
        state.keep_keys("second", "02")
        assert (state.keys(), (tmp_path / "state" / "keys.json").stat().st_mode & 0o777) == ("second", 0o600)
        state.mark(begun=True)
        with pytest.raises(ScumbleError):
            state.keep_keys("third", "03")


def test_another_version_does_not_use_keys_that_are_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It might compute other values at the same point of a step, and then one mask would cover two values."""

    def settle(mesh: LocalMesh, state: State) -> None:
        establish_keys(mesh, state, exchange_status(mesh, state), THREE, NAMES)

    states = states_of(tmp_path, (0, 0, 0))
    assert together(states, settle) == [None, None, None]
    assert together(states, settle) == [None, None, None]
    for changed, other in (("version", lambda name: "another"), ("source_hash", lambda: "another")):
        with monkeypatch.context() as patched:
            patched.setattr(f"scumble.joint.session.resume.{changed}", other)
            errors = together(states, settle)
        assert all("Continue with the same installation" in str(error) for error in errors), changed


def test_the_others_give_a_party_that_lost_its_disk_the_same_keys_again(tmp_path: Path) -> None:
    found: dict[str, SessionKeys] = {}

    def settle(mesh: LocalMesh, state: State) -> None:
        found[state.folder.name] = establish_keys(mesh, state, exchange_status(mesh, state), THREE, NAMES)

    states = states_of(tmp_path, (0, 0, 0))
    assert together(states, settle) == [None, None, None]
    before = dict(found)
    for lost in range(3):
        folder = tmp_path / f"{NAMES[lost]}-again-{lost}" / NAMES[lost]
        folder.mkdir(parents=True)
        states[lost] = State(folder, agreement=AGREEMENT, party=NAMES[lost])
        assert together(states, settle) == [None, None, None]
        assert found == before, "the same keys, also the one that only this party knows"
        assert states[lost].marks.keys_id == states[(lost + 1) % 3].marks.keys_id
        assert states[lost].marks.begun
    for lost in (0, 1):
        folder = tmp_path / f"both-{lost}" / NAMES[lost]
        folder.mkdir(parents=True)
        states[lost] = State(folder, agreement=AGREEMENT, party=NAMES[lost])
    assert all("lost the stored state" in str(error) for error in together(states, settle))


def states_of(tmp_path: Path, counts: tuple[int, ...], *, other: int | None = None) -> list[State]:
    """States of parties with the given numbers of answers; party `other` has a different first answer."""
    states = []
    for name, count in zip(NAMES, counts, strict=True):
        folder = tmp_path / name
        folder.mkdir()
        state = State(folder, agreement=AGREEMENT, party=name)
        for step in range(count):
            state.keep(step, "label", b"else" if NAMES.index(name) == other and step == 0 else bytes([step]))
        states.append(state)
    return states


def meet_and_catch_up(mesh: LocalMesh, state: State) -> None:
    catch_up(mesh, state, exchange_status(mesh, state), NAMES)


def together(
    states: list[State], act: Callable[[LocalMesh, State], None] = meet_and_catch_up
) -> list[BaseException | None]:
    """Run all parties concurrently; return the error of each."""
    import threading

    errors: list[BaseException | None] = [None] * len(states)

    def run(party: int, mesh: LocalMesh) -> None:
        try:
            act(mesh, states[party])
        except ScumbleError as error:
            errors[party] = error

    meshes = LocalMesh.connect(len(states))
    threads = [threading.Thread(target=run, args=(party, mesh)) for party, mesh in enumerate(meshes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("counts", [(0, 0, 0), (2, 2, 2), (0, 3, 1), (3, 2, 3), (0, 0, 1)])
def test_parties_that_lack_answers_receive_them(tmp_path: Path, counts: tuple[int, ...]) -> None:
    states = states_of(tmp_path, counts)
    assert together(states) == [None, None, None]
    for state in states:
        assert [each.answer for each in state.answers] == [bytes([step]) for step in range(max(counts))]
        again = State(state.folder, agreement=AGREEMENT, party=state.folder.name)
        assert again.answers == state.answers


@pytest.mark.parametrize("counts", [(2, 2, 2), (1, 3, 3), (3, 3, 1), (1, 3, 1)])
def test_contradictory_answers_are_refused_and_left_unchanged(tmp_path: Path, counts: tuple[int, ...]) -> None:
    states = states_of(tmp_path, counts, other=2)
    before = [state.answers for state in states]
    errors = together(states)
    assert any("stored different answers" in str(error) for error in errors)
    assert states[2].answers == before[2]


def test_the_log_in_memory_behaves_like_the_state_folder(tmp_path: Path) -> None:
    memory = MemoryAnswerLog()
    with open_state(tmp_path / "state", agreement=AGREEMENT, party="north") as state:
        for step in range(4):
            for log in (memory, state):
                log.keep(step, "label", bytes([step]))
            assert [state.recall(each) for each in range(6)] == [memory.recall(each) for each in range(6)]
