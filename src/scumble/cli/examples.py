"""Examples for `--help`, by the words of the command. A test parses each of them with the command's own options."""

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("scumble demo --out demo",),
    "doctor": ("scumble doctor", "scumble doctor --json"),
    "plan": (
        "scumble plan --schema schema.yaml --epsilon 1",
        "scumble plan --schema schema.yaml --method histograms --epsilon 0.5 --json",
    ),
    "release": (
        "scumble release people.csv --schema schema.yaml --epsilon 1 --out release",
        "scumble release people.parquet --schema schema.yaml --method explore --epsilon 1 --out release",
        "scumble release hospital.sqlite::patients --schema schema.yaml --epsilon 0.5 --dataset patients --out release",
    ),
    "evaluate": (
        "scumble evaluate release --test others.csv --train people.csv",
        "scumble evaluate release --test others.csv --train people.csv --out evaluation",
    ),
    "query": (
        "scumble query release \"age < 40 and workclass = 'Private'\"",
        "scumble query release \"workclass in ('Private', 'Self-emp')\" --by sex --by age:10",
        'scumble query release "not `marital status` is missing" --mean hours-per-week',
        "scumble query release --quantile 0.5 age --by sex --out ages.svg",
    ),
    "export": (
        "scumble export release --out release.parquet",
        "scumble export release --table counts --bounds --out counts.dta",
    ),
    "verify": ("scumble verify release", "scumble verify release --signed-by key.pub"),
    "risk": (
        "scumble risk people.csv --schema schema.yaml --quasi age,sex --population 80000",
        "scumble risk release",
    ),
    "audit": (
        "scumble audit --method diffgen --epsilon 1",
        "scumble audit --method histograms --epsilon 1 --transcripts 1000",
        "scumble audit --attacks release --train people.csv --control others.csv --report attacks.html",
    ),
    "compare": (
        "scumble compare --contender diffgen --contender histograms --data patients --epsilon 1 --splits 3",
        "scumble compare --contender diffgen:rounds=5 --data people.csv@schema.yaml --epsilon 1",
    ),
    "reproduce": ("scumble reproduce list", "scumble reproduce micro-fig5 --out figures"),
    "perturb": (
        "scumble perturb people.csv --schema schema.yaml --epsilon 3 --out blurred",
        "scumble perturb people.csv --schema schema.yaml --privacy 50% --accept interval --out blurred",
    ),
    "reconstruct": ("scumble reconstruct blurred --out distributions",),
    "mine train": ("scumble mine train blurred --algorithm byclass --out model.json --plot tree.svg",),
    "mine predict": ("scumble mine predict model.json --data others.csv --out predicted.csv",),
    "survey serve": ("scumble survey serve --schema schema.yaml --epsilon 3 --out answers",),
    "survey build": ("scumble survey build --schema schema.yaml --epsilon 3 --out answers --page pages",),
    "survey invite": ("scumble survey invite 200 --out invitations.csv",),
    "survey add": ("scumble survey add answers report-1.json report-2.json",),
    "survey withdraw": ("scumble survey withdraw answers kR3vJw0bQm2Zs9xTfYhN4A",),
    "survey status": ("scumble survey status answers",),
    "survey close": ("scumble survey close answers",),
    "report": ("scumble report release --audience public --out public.html",),
    "run": ("scumble run run.yaml --data people.csv",),
    "rehearse": ("scumble rehearse --schema schema.yaml --epsilon 1",),
    "studio": ("scumble studio",),
    "schema edit": ("scumble schema edit schema.yaml workclass --add Volunteer Worked",),
    "schema roles": ("scumble schema roles schema.yaml --target income",),
    "schema draft": ("scumble schema draft people.csv --target income --out schema.yaml",),
    "schema check": ("scumble schema check schema.yaml", "scumble schema check schema.yaml people.csv --rows"),
    "schema confirm": ("scumble schema confirm schema.yaml",),
    "schema format": ("scumble schema format",),
    "schema hierarchy": ("scumble schema hierarchy schema.yaml workclass --out workclass.csv",),
    "ledger show": ("scumble ledger show", "scumble ledger show --ledger ledger.db --json"),
    "ledger grant": ('scumble ledger grant people 3 --reason "second wave of the study"',),
    "ledger verify": ("scumble ledger verify", "scumble ledger verify --release release"),
    "join key": ("scumble join key --party north --out north",),
    "join init": (
        "scumble join init --schema schema.yaml --epsilon 1 --party a=HOST:7000 --party b=HOST:7000 --out agreed",
    ),
    "join plan": ("scumble join plan --agreement agreed/agreement.yaml",),
    "join run": ("scumble join run --agreement agreed/agreement.yaml --party north --data north.csv --out release",),
    "join rehearse": ("scumble join rehearse --parties 3",),
    "join transcript verify": ("scumble join transcript verify north.transcript south.transcript",),
}


def epilog(words: str) -> str | None:
    """The examples of a command, as the last paragraph of its help; None if there are none."""
    examples = EXAMPLES.get(words)
    if examples is None:
        return None
    # Square brackets are markup of rich; no example may need them.
    return "\n".join(("Example:" if len(examples) == 1 else "Examples:", *(f"  {example}" for example in examples)))
