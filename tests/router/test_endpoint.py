"""The endpoint reranker and servers that fail, refuse or lie. A server that works: the conformance suite."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from compendia.contract import CompendiaError, ErrorCode
from compendia.router.endpoint import (
    KEY_VARIABLE,
    Answer,
    EndpointReranker,
    chosen_label,
    label_log_probabilities,
    label_shares,
)
from compendia.router.render import Card

CARDS = [Card("Tool: Tides"), Card("Tool: Bread"), Card("Tool: Ferry")]
Reply = tuple[int, Any]


def chat(text: str) -> Reply:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return 200, {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class Server:
    """An HTTP server whose answers `respond` decides from each request; it keeps the requests."""

    def __init__(self, respond: Callable[[dict[str, Any]], Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                requests.append(body)
                status, answer = respond(body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[dict[str, Any]], Reply]], Server]]:
    servers: list[Server] = []

    def start(respond: Callable[[dict[str, Any]], Reply]) -> Server:
        servers.append(Server(respond))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def label_of(body: dict[str, Any], card: str) -> str:
    """The label under which a request shows a card."""
    lines = body["messages"][1]["content"].splitlines()
    return str(lines[lines.index(card) - 1].strip("[]"))


def failure(reranker: EndpointReranker) -> CompendiaError:
    with pytest.raises(CompendiaError) as caught:
        reranker.score("when is low tide", CARDS)
    assert caught.value.code is ErrorCode.RERANKER_FAILED
    return caught.value


Serve = Callable[[Callable[[dict[str, Any]], Reply]], Server]


def test_every_rotation_puts_a_card_elsewhere_and_the_choice_wins(serve: Serve) -> None:
    server = serve(lambda body: chat(json.dumps({"label": label_of(body, "Tool: Ferry")})))
    scores = EndpointReranker(server.url, "m").score("a ferry", CARDS)
    assert int(np.argmax(scores)) == 2
    assert {label_of(body, "Tool: Ferry") for body in server.requests} == {"A", "B", "C"}
    assert sorted(body["seed"] for body in server.requests) == [0, 1, 2]


def test_a_server_that_always_says_a_prefers_no_card(serve: Serve) -> None:
    scores = EndpointReranker(serve(lambda body: chat('{"label": "A"}')).url, "m").score("a ferry", CARDS)
    np.testing.assert_allclose(scores, scores[0])


def test_what_a_server_refuses_is_asked_without_and_not_again(serve: Serve) -> None:
    def respond(body: dict[str, Any]) -> Reply:
        if "response_format" in body:
            return 400, {"error": {"message": "response_format is not supported"}}
        return chat('{"label": "A"}')

    server = serve(respond)
    EndpointReranker(server.url, "m").score("a ferry", CARDS)
    assert sum("response_format" in body for body in server.requests) == 2
    assert len(server.requests) == 2 + 3


@pytest.mark.parametrize(
    "said", ['{"label": "Z"}', '{"label": "AB"}', "the first one", '{"label": 1}', "[]", ""]
)
def test_an_answer_outside_the_labels_is_refused(serve: Serve, said: str) -> None:
    server = serve(lambda body: chat(said))
    assert "names none of the labels ABC" in str(failure(EndpointReranker(server.url, "m")))


def test_no_choices_at_all(serve: Serve) -> None:
    server = serve(lambda body: (200, {**chat("")[1], "choices": []}))
    failure(EndpointReranker(server.url, "m"))


def test_the_key_comes_from_the_environment_and_is_not_shown(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "key-of-the-test")
    server = serve(lambda body: (401, {"error": {"message": "bad key key-of-the-test"}}))
    text = str(failure(EndpointReranker(server.url, "m")))
    assert "AuthenticationError" in text
    assert "key-of-the-test" not in text


def test_nobody_there() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as taken:
        port = taken.server_address[1]
    fault = failure(EndpointReranker(f"http://127.0.0.1:{port}/v1", "m", retries=0))
    assert f"127.0.0.1:{port}" in str(fault)
    assert "APIConnectionError" in str(fault)


def test_a_server_that_is_too_slow(serve: Serve) -> None:
    held = threading.Event()

    def respond(body: dict[str, Any]) -> Reply:
        held.wait(20)
        return chat('{"label": "A"}')

    server = serve(respond)
    fault = failure(EndpointReranker(server.url, "m", timeout_s=0.3, retries=0))
    held.set()
    assert "APITimeoutError" in str(fault)


def test_more_cards_than_labels() -> None:
    cards = [Card(f"Tool: {number}") for number in range(27)]
    with pytest.raises(CompendiaError, match="27 cards are more than the 26 labels"):
        EndpointReranker("http://127.0.0.1:9/v1", "m").score("q", cards)


def test_shares_sum_to_one_and_an_unlisted_label_is_worth_the_least() -> None:
    for answer in (
        Answer("A", {"A": -0.2, "B": -3.0, "Q": -5.0}),
        Answer("C", {}),
        Answer("A", {"A": -np.inf}),
    ):
        shares = label_shares(answer, "ABC")
        assert math.isclose(sum(math.exp(value) for value in shares.values()), 1.0)
        assert all(math.isfinite(value) for value in shares.values())
    listed = label_shares(Answer("A", {"A": -0.2, "B": -3.0, "Q": -5.0}), "ABC")
    assert listed["A"] > listed["B"] > listed["C"]


def test_the_label_token_is_found_behind_a_fence() -> None:
    tokens = [("```", {}), ("json\n", {}), ('{"', {}), ("label", {}), ('":', {}), (' "', {"A": -9.0})]
    tokens += [("B", {"B": -0.1, " A": -2.0, "A": -3.0}), ('"}', {})]
    assert label_log_probabilities(tokens, "B") == {"A": -2.0, "B": -0.1}
    assert label_log_probabilities(tokens, "C") == {}


def test_labels_are_read_from_json_alone() -> None:
    assert chosen_label('Sure: {"label": "B"}', "ABC") == "B"
    assert chosen_label("B", "ABC") is None
