"""What the fuzzer needs to know about a reader."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from scumble.errors import ScumbleError

Run = Callable[[bytes], None]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reader, inputs that it accepts, and how they are changed.

    `prepare` is called once in the worker's process, in an empty folder, and returns the function that reads one input.
    """

    name: str
    reads: str
    """What is read, for the table."""
    seeds: Sequence[bytes]
    mutate: Callable[[Random, bytes], bytes]
    prepare: Callable[[], Run]
    long_run: int = 1_000_000
    """Inputs of the long run."""
    memory_bytes: int = 1 << 30
    """The most memory of one input, beyond that of the process before its first."""
    spliced: bool = True
    """Whether the beginning of one input may be joined with the end of another."""
    refusals: tuple[type[BaseException], ...] = (ScumbleError,)
    """The documented errors: an input may raise these and nothing else."""
