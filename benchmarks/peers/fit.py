"""One fit of a method of another project, run by the interpreter of its own environment. Imports nothing of scumble.

    .venv/dpmm/bin/python fit.py job.npz result.npz '{"peer": "aim", "epsilon": 1.0, "delta": 1e-05, "seed": 0}'

`job.npz` contains `train` and `test`, codes with the class in the last column; `sizes`, the number of codes of each
column; and `in_order`, whether the order of its codes has a meaning. Sizes and order are public. `result.npz` contains
`rows`, a synthetic table in the same codes, or `probabilities` for the test rows if the method trains a model instead;
and `cpu_seconds` of fitting and sampling only.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np

Arrays = dict[str, np.ndarray]


def aim(job: dict[str, np.ndarray], settings: dict[str, float]) -> Arrays:
    """AIM (McKenna et al. 2022) as dpmm ships it: 1,000 iterations of inference, models up to 80 MB, pairs."""
    from dpmm.models.aim import AIMGM

    return _marginals(AIMGM, job, settings)


def mst(job: dict[str, np.ndarray], settings: dict[str, float]) -> Arrays:
    """MST (McKenna et al. 2021) as dpmm ships it: 10,000 iterations of inference."""
    from dpmm.models.mst import MSTGM

    return _marginals(MSTGM, job, settings)


def _marginals(model: Callable[..., object], job: dict[str, np.ndarray], settings: dict[str, float]) -> Arrays:
    import pandas as pd

    names = [f"a{place:02}" for place in range(len(job["sizes"]))]
    domain = {name: int(size) for name, size in zip(names, job["sizes"], strict=True)}
    frame = pd.DataFrame(job["train"].astype(np.int64), columns=names)
    state = np.random.RandomState(int(settings["seed"]))
    more = {"n_iters": int(settings["iterations"])} if "iterations" in settings else {}
    fitted = model(
        epsilon=settings["epsilon"], delta=settings["delta"], domain=domain, random_state=state, n_jobs=1, **more
    )
    fitted.fit(frame)
    # Without a number of rows, the library uses its own noisy estimate.
    return {"rows": fitted.generate()[names].to_numpy(dtype=np.int64)}


def logistic(job: dict[str, np.ndarray], settings: dict[str, float]) -> Arrays:
    """Logistic regression with a perturbed objective (Chaudhuri et al. 2011) as diffprivlib ships it: eps, no delta.

    Each attribute is one number, as for all classifiers here: its code, scaled to 0..1 by the public grid or taxonomy.
    So the norm of a record is at most the square root of the number of attributes, which is public. (Indicator features
    for categories are much worse, 79 against 83 % at eps 1: the noise grows with the number of features.)
    """
    from diffprivlib.models import LogisticRegression

    scale = np.maximum(job["sizes"][:-1] - 1, 1)
    model = LogisticRegression(
        epsilon=settings["epsilon"], data_norm=float(np.sqrt(len(scale))), random_state=int(settings["seed"])
    )
    model.fit(job["train"][:, :-1] / scale, job["train"][:, -1])
    probabilities = np.zeros((len(job["test"]), int(job["sizes"][-1])))
    probabilities[:, model.classes_] = model.predict_proba(job["test"][:, :-1] / scale)
    return {"probabilities": probabilities}


def dpebm(job: dict[str, np.ndarray], settings: dict[str, float]) -> Arrays:
    """DP-EBM (Nori et al. 2021) as interpret ships it: 300 rounds, one attribute at a time, 32 bins: the defaults.

    Bounds and types are given, so that the library does not read them from the rows. The noise is scaled to a
    sensitivity of one record's residual, which is at most 1 when a record is added or removed.
    """
    from interpret.privacy import DPExplainableBoostingClassifier

    sizes, in_order = job["sizes"][:-1], job["in_order"][:-1].astype(bool)
    model = DPExplainableBoostingClassifier(
        feature_types=["continuous" if ordered else "nominal" for ordered in in_order],
        privacy_bounds={int(place): (-0.5, sizes[place] - 0.5) for place in np.flatnonzero(in_order)},
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        random_state=int(settings["seed"]),
        n_jobs=1,
    )
    model.fit(job["train"][:, :-1], job["train"][:, -1])
    probabilities = np.zeros((len(job["test"]), int(job["sizes"][-1])))
    probabilities[:, model.classes_] = model.predict_proba(job["test"][:, :-1])
    return {"probabilities": probabilities}


PEERS = {"aim": aim, "mst": mst, "logistic": logistic, "dpebm": dpebm}


def main() -> int:
    source, target, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    with np.load(source) as file:
        job = dict(file)
    began = time.process_time()
    result = PEERS[settings["peer"]](job, settings)
    np.savez_compressed(target, cpu_seconds=time.process_time() - began, **result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
