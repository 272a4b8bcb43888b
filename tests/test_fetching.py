import hashlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx2
import pytest

from learnloop.errors import FetchError
from learnloop.fetching import fetch, file_sha256


def giving(content):
    return httpx2.MockTransport(lambda request: httpx2.Response(200, content=content))


def test_no_more_is_taken_than_the_limit(tmp_path):
    with pytest.raises(FetchError, match="gives more than 10 bytes"):
        fetch(
            "https://a.test/b",
            tmp_path / "p",
            lambda n: None,
            limit=10,
            transport=giving(b"x" * 11),
        )
    fetch("https://a.test/b", tmp_path / "q", lambda n: None, limit=10, transport=giving(b"x" * 10))
    assert (tmp_path / "q").read_bytes() == b"x" * 10


def test_bytes_are_asked_for_as_they_are_since_a_packed_answer_cannot_go_on(tmp_path):
    asked = []

    def handler(request):
        asked.append(request.headers["accept-encoding"])
        return httpx2.Response(200, content=b"x")

    fetch(
        "https://a.test/b", tmp_path / "p", lambda n: None, transport=httpx2.MockTransport(handler)
    )
    assert asked == ["identity"]


def test_a_web_page_is_not_taken_for_the_file(tmp_path):
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, html="Too many"))
    with pytest.raises(FetchError, match="a web page in place of the file"):
        fetch("https://a.test/b", tmp_path / "p", lambda n: None, transport=transport)
    assert (tmp_path / "p").read_bytes() == b""


def test_the_checksum_of_a_file_is_that_of_its_bytes(tmp_path):
    content = bytes(range(256)) * 9000
    (tmp_path / "f").write_bytes(content)
    done = []
    assert file_sha256(tmp_path / "f", progress=done.append) == hashlib.sha256(content).hexdigest()
    assert sum(done) == len(content)


CONTENT = bytes(range(256)) * 2000


@contextmanager
def served(*, piece, asked):
    """A server on this machine that closes the connection after every piece of the content."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            start = int(self.headers.get("Range", "bytes=0-")[len("bytes=") : -1])
            asked.append(start)
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(CONTENT) - start))
            self.end_headers()
            self.wfile.write(CONTENT[start : start + piece])

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/file"
        finally:
            server.shutdown()
            thread.join()


def test_a_server_that_breaks_off_again_and_again_is_followed_to_the_end(tmp_path):
    asked, done = [], []
    with served(piece=100_000, asked=asked) as url:
        fetch(url, tmp_path / "p", done.append, transport=httpx2.HTTPTransport())
    assert (tmp_path / "p").read_bytes() == CONTENT
    assert asked == [0, 100_000, 200_000, 300_000, 400_000, 500_000]
    assert sum(done) == len(CONTENT)


def test_a_server_that_gives_nothing_more_is_given_up(tmp_path):
    asked = []
    with served(piece=0, asked=asked) as url, pytest.raises(FetchError, match="broke off"):
        fetch(url, tmp_path / "p", lambda n: None, transport=httpx2.HTTPTransport())
    assert asked == [0, 0, 0]
