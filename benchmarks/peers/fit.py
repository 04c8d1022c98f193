"""One fit of somebody else's method, run by the interpreter of its own environment: no line of scumble is imported.

    .venv/dpmm/bin/python fit.py job.npz result.npz '{"peer": "aim", "epsilon": 1.0, "delta": 1e-05, "seed": 0}'

`job.npz` holds `train` and `test`, codes with the class in the last column, `sizes`, how many codes each column has,
and `numeric`, which columns are numbers. `result.npz` holds `rows`, a synthetic table in the same codes, or, of a
method that makes a model and no table, `probabilities` for the test rows; and `cpu_seconds`, of fitting and drawing
alone.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np

Result = dict[str, np.ndarray]


def aim(job: dict[str, np.ndarray], settings: dict[str, float]) -> Result:
    """AIM (McKenna et al. 2022) as dpmm ships it: 1,000 iterations of inference, models up to 80 MB, pairs."""
    from dpmm.models.aim import AIMGM

    return _marginals(AIMGM, job, settings)


def mst(job: dict[str, np.ndarray], settings: dict[str, float]) -> Result:
    """MST (McKenna et al. 2021) as dpmm ships it: 10,000 iterations of inference."""
    from dpmm.models.mst import MSTGM

    return _marginals(MSTGM, job, settings)


def _marginals(model: Callable[..., object], job: dict[str, np.ndarray], settings: dict[str, float]) -> Result:
    import pandas as pd

    names = [f"a{place:02}" for place in range(len(job["sizes"]))]
    domain = {name: int(size) for name, size in zip(names, job["sizes"], strict=True)}
    frame = pd.DataFrame(job["train"].astype(np.int64), columns=names)
    state = np.random.RandomState(int(settings["seed"]))
    fitted = model(epsilon=settings["epsilon"], delta=settings["delta"], domain=domain, random_state=state, n_jobs=1)
    fitted.fit(frame)
    # No number of rows is given: the library takes its own noisy estimate.
    return {"rows": fitted.generate()[names].to_numpy(dtype=np.int64)}


def logistic(job: dict[str, np.ndarray], settings: dict[str, float]) -> Result:
    """Logistic regression with a perturbed objective (Chaudhuri et al. 2011) as diffprivlib ships it: eps, no delta.

    Numbers are scaled to 0..1 by the public grid, categories become indicators, so no record is longer than the root
    of the number of attributes: public, too.
    """
    from diffprivlib.models import LogisticRegression

    sizes, numeric = job["sizes"][:-1], job["numeric"][:-1]
    model = LogisticRegression(
        epsilon=settings["epsilon"], data_norm=float(np.sqrt(len(sizes))), random_state=int(settings["seed"])
    )
    model.fit(_features(job["train"], sizes, numeric), job["train"][:, -1])
    probabilities = np.zeros((len(job["test"]), int(job["sizes"][-1])))
    probabilities[:, model.classes_] = model.predict_proba(_features(job["test"], sizes, numeric))
    return {"probabilities": probabilities}


def _features(codes: np.ndarray, sizes: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    columns = []
    for column, size, is_number in zip(codes.T, sizes, numeric, strict=False):
        columns.append(column[:, np.newaxis] / max(size - 1, 1) if is_number else np.eye(size)[column])
    return np.concatenate(columns, axis=1)


PEERS = {"aim": aim, "mst": mst, "logistic": logistic}


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
