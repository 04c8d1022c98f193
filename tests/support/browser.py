"""A real browser for tests of web pages: Debian's chromium, driven by Playwright. `.ci/install-browser` installs it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")


@contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """A browser without a window. The sandbox is off because tests may run as root; only local pages are opened."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", *flags])
        try:
            yield browser
        finally:
            browser.close()


def axe_violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it is now: one line for each element."""
    from axe_playwright_python.sync_playwright import Axe

    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{each['id']}: {each['help']}: {node['html']}" for each in found for node in each["nodes"]]
