"""Asks pip-audit for known vulnerabilities of the pinned packages; used by `make check-dependencies`.

    python benchmarks/audit_dependencies.py PIP_AUDIT LOCK...

Exits with 1 only if a pinned package has a known vulnerability. If pip-audit is missing, fails, or finds no package at
its service, the lock file was not checked: the output says so, and the exit code is 0, because the network is not part
of the change that is tested. pip-audit itself reports "no known vulnerabilities" if it could look up no package at all.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SECONDS = 300
OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is known about the packages of a lock file. `problem` says why nothing was checked."""

    checked: int = 0
    unknown: tuple[str, ...] = ()
    vulnerable: tuple[str, ...] = ()
    problem: str | None = None


def audit(pip_audit: str, lock: Path) -> Finding:
    """Run pip-audit on a lock file."""
    try:
        done = subprocess.run(
            [pip_audit, *OPTIONS, "-r", str(lock)], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        return Finding(problem="pip-audit is not installed")
    except subprocess.TimeoutExpired:
        return Finding(problem=f"pip-audit did not answer within {SECONDS} s")
    return finding(done.stdout, done.stderr)


def finding(output: str, errors: str) -> Finding:
    """What pip-audit's JSON says. Packages that it skipped were not checked."""
    try:
        packages = json.loads(output)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = errors.strip().splitlines()[-1:] or ["no output"]
        return Finding(problem=f"pip-audit failed: {last[0][:200]}")
    unknown = tuple(package["name"] for package in packages if "skip_reason" in package)
    vulnerable = tuple(
        f"{package['name']} {package['version']}: {found['id']}, "
        f"fixed in {', '.join(found['fix_versions']) or 'no version'}"
        for package in packages
        for found in package.get("vulns", ())
    )
    checked = len(packages) - len(unknown)
    problem = None if checked else "the service of pip-audit cannot be reached, or does not know any of the packages"
    return Finding(checked=checked, unknown=unknown, vulnerable=vulnerable, problem=problem)


def report(lock: str, found: Finding) -> str:
    """What is printed about a lock file."""
    if found.problem is not None:
        return f"{lock}: NOT CHECKED, {found.problem}."
    lines = [f"{lock}: {found.checked} packages checked, {len(found.vulnerable)} known vulnerabilities."]
    lines += [f"  {each}" for each in found.vulnerable]
    if found.unknown:
        lines.append(f"  not checked, unknown to the service: {', '.join(found.unknown)}")
    return "\n".join(lines)


def main(pip_audit: str, *locks: str) -> int:
    vulnerable = False
    for lock in locks:
        found = audit(pip_audit, Path(lock))
        print(report(lock, found))
        vulnerable |= bool(found.vulnerable)
    return int(vulnerable)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
