"""The server of a survey: sends the pages, takes perturbed records, and deletes them on request.

It sees what browsers send: reports, and never true answers unless a person chose to send one. It writes no log of
requests and keeps no address. It is meant to run behind a reverse proxy that adds TLS; docs/survey.md says how.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from scumble.errors import InputError, ScumbleError
from scumble.foreign.documents import parse_json
from scumble.mining.tree_model import TreeModel
from scumble.survey.pages import POLICY, content_type, description_script, page_files
from scumble.survey.rate_limit import RateLimit
from scumble.survey.records import ClosedSurvey, CollectedRecords, UnknownToken
from scumble.survey.submission import SubmissionReader, token_digest

LARGEST_BODY = 64 << 10
"""Bytes of a message. A record of a thousand attributes has less."""
USUAL_POSTS = 30
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def survey_app(
    collected: CollectedRecords,
    *,
    posts_each_minute: int = USUAL_POSTS,
    behind_proxy: bool = False,
    tree: TreeModel | None = None,
) -> Starlette:
    """The web application of one survey. `behind_proxy` takes the sender's address from X-Forwarded-For."""
    survey = collected.survey
    files = page_files(survey, served=True, tree=tree)
    reader = SubmissionReader(survey)
    limit = RateLimit(posts_each_minute)

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in files:
            return _answer(404, {"error": "There is no such page."})
        if name == "description.js":
            closed = survey.is_over() or await run_in_threadpool(lambda: collected.is_closed)
            content = description_script(survey, served=True, is_open=not closed)
        else:
            content = files[name]
        return Response(content, headers={**HEADERS, "Content-Type": content_type(name)})

    async def message(request: Request) -> Any:
        if not limit.allows(_sender(request, behind_proxy)):
            raise Refused(429, "Too many messages from your connection. Wait a minute and try again.")
        return await _json_body(request)

    async def put(request: Request) -> dict[str, Any]:
        submission = reader.read(await message(request))
        return {"replaced": await run_in_threadpool(collected.put, submission)}

    async def withdraw(request: Request) -> dict[str, Any]:
        given = await message(request)
        if not isinstance(given, dict) or set(given) != {"survey", "token"} or given["survey"] != survey.identity:
            raise InputError("A withdrawal has the entries survey and token, and no others.")
        await run_in_threadpool(collected.withdraw, token_digest(given["token"]))
        return {"withdrawn": True}

    return Starlette(
        routes=[
            Route("/", page),
            Route("/records", _answering(put), methods=["POST"]),
            Route("/withdrawals", _answering(withdraw), methods=["POST"]),
            Route("/{name}", page),
        ]
    )


def _answering(act: Callable[[Request], Awaitable[dict[str, Any]]]) -> Callable[[Request], Awaitable[Response]]:
    """Turn results and errors into answers. No answer quotes the message."""

    async def endpoint(request: Request) -> Response:
        try:
            return _answer(200, await act(request))
        except Refused as refused:
            return _answer(refused.status, {"error": str(refused)})
        except ClosedSurvey as error:
            return _answer(410, {"error": str(error)})
        except UnknownToken as error:
            return _answer(403, {"error": str(error)})
        except InputError as error:
            return _answer(422, {"error": str(error)})
        except ScumbleError as error:
            logging.getLogger("scumble.survey").error("%s", error)
            return _answer(503, {"error": "The server cannot store records at the moment. Try again later."})

    return endpoint


def _answer(status: int, data: dict[str, Any]) -> JSONResponse:
    return JSONResponse(data, status_code=status, headers=HEADERS)


async def _json_body(request: Request) -> Any:
    """The message. A body is read no further than its limit, and only if it says that it is JSON: other sites cannot
    send that from somebody's browser without asking this server first, which it never answers."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Refused(415, "Messages are JSON (Content-Type: application/json).")
    stated = request.headers.get("content-length", "0")
    if not stated.isdecimal() or len(stated) > 9 or int(stated) > LARGEST_BODY:
        raise Refused(413, f"The message is longer than {LARGEST_BODY >> 10} KiB.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise Refused(413, f"The message is longer than {LARGEST_BODY >> 10} KiB.")
    try:
        return parse_json(bytes(body))
    except ValueError:
        raise Refused(400, "The message is not valid JSON.") from None


def _sender(request: Request, behind_proxy: bool) -> str:
    """The address that a post came from. The proxy appends it to whatever the sender wrote into the header."""
    if behind_proxy:
        return request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
    return request.client.host if request.client is not None else ""
