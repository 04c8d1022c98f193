"""The MPyC part of `python benchmarks/joint.py peer`: scores of candidates and the best of them, on secret shares.

It runs in MPyC's own environment, one process per party on this machine, and imports nothing of scumble:

    python mpyc_scores.py CANDIDATES -M3

Party 0 prints one line of JSON. Every party secret-shares its counts and its own noise for each candidate; noise that
no party knows would take many times as much work.
"""

import json
import logging
import sys
import time

import numpy as np
from mpyc.runtime import mpc

CHILDREN, CLASSES, BITS = 2, 2, 32


async def main() -> None:
    candidates = int(sys.argv[1])
    mpc.options.sec_param = 64
    secure = mpc.SecInt(BITS)
    generator = np.random.default_rng(mpc.pid)
    await mpc.start()
    began, clock = time.process_time(), time.perf_counter()
    counts = generator.integers(0, 10_000, (candidates, CHILDREN, CLASSES))
    noise = generator.integers(0, 200, candidates)
    shared = sum(mpc.input(secure.array(counts)))
    noises = sum(mpc.input(secure.array(noise)))
    larger = np.maximum(shared[:, :, 0], shared[:, :, 1])
    scores = np.sum(larger, axis=1)
    await mpc.barrier("scores")
    middle, middle_sent = time.process_time(), sent()
    chosen = await mpc.output(mpc.np_argmax(scores + noises))
    result = {
        "scores": {"cpu_seconds": middle - began, "bytes_sent": middle_sent},
        "choice": {"cpu_seconds": time.process_time() - middle, "bytes_sent": sent() - middle_sent},
        "seconds": time.perf_counter() - clock,
        "chosen": int(chosen),
    }
    await mpc.shutdown()
    if mpc.pid == 0:
        print(json.dumps(result))


def sent() -> int:
    return sum(peer.protocol.nbytes_sent for peer in mpc.parties if peer.pid != mpc.pid)


logging.disable(logging.INFO)
mpc.run(main())
