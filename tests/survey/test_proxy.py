"""The survey behind nginx with TLS, configured as docs/survey.md says, with a self-made certificate on loopback."""

import re
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from browser import chromium
from survey_server import health_survey, served

pytestmark = pytest.mark.studio
SURVEY = health_survey()
PAGE = Path(__file__).parents[2] / "docs" / "survey.md"
NGINX = "/usr/sbin/nginx"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def documented(folder: Path, port: int, upstream: int) -> str:
    """The documented configuration, with the ports and files of this test."""
    found = re.search(r"^```nginx\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    text = found[1]
    changes = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/survey": str(folder / "survey"),
        "127.0.0.1:8000": f"127.0.0.1:{upstream}",
    }
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return f"daemon off;\nuser root;\npid {folder}/nginx.pid;\nevents {{}}\nhttp {{\n{text}}}\n"


@contextmanager
def proxy(folder: Path, upstream: int) -> Iterator[int]:
    port = free_port()
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=survey.example"]
    request += ["-addext", "subjectAltName=DNS:survey.example", "-keyout", "survey.key", "-out", "survey.pem"]
    subprocess.run(request, cwd=folder, check=True, capture_output=True)
    (folder / "nginx.conf").write_text(documented(folder, port, upstream), "utf-8")
    running = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf")], stderr=subprocess.PIPE)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert running.poll() is None, running.stderr and running.stderr.read()
            time.sleep(0.05)
        yield port
    finally:
        running.terminate()
        running.communicate()


def https(port: int, certificate: Path, request: bytes) -> bytes:
    """The answer to a request, whose certificate is checked."""
    trusted = ssl.create_default_context(cafile=certificate)
    with (
        socket.create_connection(("127.0.0.1", port), source_address=("127.91.82.73", 0)) as plain,
        trusted.wrap_socket(plain, server_hostname="survey.example") as secure,
    ):
        secure.sendall(request)
        return b"".join(iter(lambda: secure.recv(65536), b""))


def test_the_documented_proxy_carries_a_survey(tmp_path: Path) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with (
        served(tmp_path / "c", SURVEY, behind_proxy=True, posts_each_minute=3) as (client, collected),
        proxy(folder, client.port) as port,
        chromium(f"--host-resolver-rules=MAP survey.example 127.0.0.1:{port}") as browser,
    ):
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.goto("https://survey.example/")
        assert page.evaluate("isSecureContext")
        page.check("#agree")
        page.click("#begin")
        page.fill("#question-0", "41")
        page.check("#question-1-withheld")
        page.check("#question-2-withheld")
        page.check("input[name=question-3][value='0']")
        page.click("#questions button")
        page.click("#send")
        page.wait_for_selector("#done:visible")
        assert len(collected) == 1
        answer = https(
            port, folder / "survey.pem", b"GET / HTTP/1.1\r\nHost: survey.example\r\nConnection: close\r\n\r\n"
        )
        head = answer.partition(b"\r\n\r\n")[0].lower()
        assert b"200 ok" in head
        assert b"strict-transport-security" in head
        assert b"content-security-policy: default-src 'none'" in head
        # Whatever a sender writes into X-Forwarded-For, the proxy replaces: the fourth message of a minute is refused.
        statuses = []
        for place in range(4):
            post = f"POST /records HTTP/1.1\r\nHost: survey.example\r\nX-Forwarded-For: 192.0.2.{place}\r\n"
            post += "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
            statuses.append(https(port, folder / "survey.pem", post.encode()).split()[1])
        assert statuses == [b"422", b"422", b"422", b"429"]
        large = b"POST /records HTTP/1.1\r\nHost: survey.example\r\nContent-Type: application/json\r\n"
        large += b"Content-Length: 104857600\r\nConnection: close\r\n\r\n"
        assert https(port, folder / "survey.pem", large).split()[1] == b"413"
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"127.91.82" not in kept
