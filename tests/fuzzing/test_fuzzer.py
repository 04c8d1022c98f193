"""The fuzzer finds what it looks for: crashes, hangs, memory, and dead processes. The tallies add up."""

import json
import mmap
import os
import signal
import time
from pathlib import Path
from random import Random

import pytest
from fuzzing.__main__ import Worker
from fuzzing.plain_yaml_changes import plain_or_text
from fuzzing.random_frames import frame
from fuzzing.target import Run, Target
from fuzzing.web import runs, submissions, survey, web_targets
from fuzzing.worker import SHARED, fuzz

from fuzzing import mutation, page, tally, worker
from scumble.errors import InputError
from scumble.files.run_file import parse_run
from scumble.foreign.plain_yaml import parse_plain_yaml
from scumble.survey.submission import SubmissionReader

SEEDS = (b'{"a": [1, 2], "b": "text"}', b"age < 40")


def reading(run: Run) -> Target:
    return Target(name="planted", reads="anything", seeds=SEEDS, mutate=mutation.json_or_text, prepare=lambda: run)


def faults_of(run: Run, *, inputs: int = 40) -> list[str]:
    found = fuzz(reading(run), seed="a", seconds=60, inputs=inputs, shared=mmap.mmap(-1, SHARED))
    return [fault["kind"] for fault in found["faults"]]


def refused(data: bytes) -> None:
    raise InputError("refused")


def test_a_documented_refusal_is_no_fault() -> None:
    assert faults_of(refused) == []


def test_any_other_error_is_one() -> None:
    def run(data: bytes) -> None:
        if b"40" not in data:
            raise KeyError("a")

    assert "crash" in faults_of(run)


def test_a_hang_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "HANG_SECONDS", 0.2)

    def run(data: bytes) -> None:
        while True:
            pass

    assert faults_of(run, inputs=1) == ["hang"]


def test_memory_is_one() -> None:
    def run(data: bytes) -> None:
        raise MemoryError

    assert faults_of(run, inputs=1) == ["memory"]


def test_a_process_that_dies_counts_with_its_last_input(tmp_path: Path) -> None:
    def run(data: bytes) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    started = Worker(reading(run), seed="a", seconds=60, inputs=5, scratch=tmp_path, kept=[])
    while (found := started.ended()) is None:
        time.sleep(0.01)
    (fault,) = found["faults"]
    assert (fault["kind"], bytes.fromhex(fault["input"])) == ("crash", SEEDS[0])


def test_a_corpus_is_handed_on_to_the_next_slice() -> None:
    read = []

    def run(data: bytes) -> None:
        read.append(data)

    found = fuzz(reading(run), seed="a", seconds=60, inputs=5, shared=mmap.mmap(-1, SHARED), kept=[b"kept"])
    assert b"kept" in read[:4]
    assert found["corpus"][0] == b"kept".hex()


def test_most_changes_of_yaml_are_read_quickly_and_change_values() -> None:
    seed, random = b"a: {b: [1, 2]}\nc: |\n  text\n", Random("a")
    changed = [plain_or_text(random, seed).decode("utf-8", "replace") for _ in range(200)]
    plain = [text for text in changed if "[" not in text and parse_plain_yaml(text) is not None]
    assert 60 < len(plain) < 190
    assert len(set(plain)) > 40


def test_an_input_that_reaches_a_new_place_is_kept() -> None:
    seen = set()

    def run(data: bytes) -> None:
        seen.add(data)
        raise InputError("refused")

    fuzz(reading(run), seed="a", seconds=60, inputs=200, shared=mmap.mmap(-1, SHARED))
    assert len(seen) > 150


def test_equal_seeds_give_equal_inputs() -> None:
    def inputs() -> list[bytes]:
        random = Random(7)
        return [mutation.json_or_text(random, random.choice(SEEDS)) for _ in range(50)]

    assert inputs() == inputs()
    assert len(set(inputs())) > 40


def test_frames_depend_on_all_their_bytes() -> None:
    kinds = {type(frame(Random(number).randbytes(80))).__name__ for number in range(60)}
    assert {"DataFrame", "Table", "list"} <= kinds


def test_tallies_add_up_by_version(tmp_path: Path) -> None:
    run = tally.counted({"inputs": 10, "accepted": 1, "seconds": 2, "slowest": 0.5, "memory": 7, "faults": []})
    tally.add(tmp_path, "planted", run, "old")
    tally.add(tmp_path, "planted", {**run, "slowest": 1.5}, "new")
    tally.add(tmp_path, "planted", run, "new")
    assert tally.read(tmp_path, "planted")["new"]["inputs"] == 20
    (tmp_path / "page.md").write_text(f"before\n{page.BEGIN}\nold\n{page.END}\nafter\n")
    page.write(tmp_path / "page.md", {"planted": reading(refused)}, tmp_path, "new")
    text = (tmp_path / "page.md").read_text()
    assert "| anything | 30 | 20 | 1,000,000 | 0 | 0 | 0 | 1.5 s | 0 MiB | 0 |" in text
    assert text.startswith("before") and text.endswith("after\n")


def test_the_inputs_of_the_web_pages_are_accepted_before_they_are_changed() -> None:
    assert [parse_run(text.decode()).data for text in runs()] == ["../people.csv"] * 2
    reader = SubmissionReader(survey())
    read = [reader.read(json.loads(message)) for message in submissions(survey())]
    assert [set(each.truths) for each in read] == [set(), {"job"}]


@pytest.mark.parametrize("target", list(web_targets()), ids=lambda target: target.name)
def test_changed_inputs_of_the_web_pages_are_refused_or_read(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = fuzz(target, seed="web", seconds=20, inputs=60, shared=mmap.mmap(-1, SHARED))
    assert found["faults"] == []
    assert found["accepted"] > 0, "some inputs are valid"
    assert found["accepted"] < 60, "some are refused"
