"""The meter of a joint run: each phase gets what was counted during it, phases of one name are added up."""

from dataclasses import dataclass

from scumble.joint.session.meter import Meter, Phase


@dataclass
class Counters:
    rounds: int = 5
    bytes_sent: int = 100
    bytes_received: int = 50


def test_phases_get_what_was_counted_during_them() -> None:
    counters = Counters()
    meter = Meter(counters)
    for name, rounds, sent, received in [("scores", 2, 10, 20), ("noise", 1, 3, 4), ("scores", 4, 7, 0)]:
        counters.rounds += rounds
        counters.bytes_sent += sent
        counters.bytes_received += received
        meter.lap(name)
    counters.rounds += 99  # after the last phase: counted for none
    assert [(phase.name, phase.rounds, phase.bytes_sent, phase.bytes_received) for phase in meter.phases] == [
        ("scores", 6, 17, 20),
        ("noise", 1, 3, 4),
    ]
    assert all(phase.seconds >= 0 for phase in meter.phases)


def test_a_phase_is_written_with_milliseconds() -> None:
    phase = Phase(name="noise", seconds=1.23456, rounds=1, bytes_sent=2, bytes_received=3)
    assert phase.to_json() == {
        "name": "noise",
        "seconds": 1.235,
        "rounds": 1,
        "bytes_sent": 2,
        "bytes_received": 3,
    }
