import json
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

CONFIG = """
[server]
port = 0
[tasks.sql]
model = "scripted/static"
"""


@contextmanager
def served(folder, *words):
    """Run the server in a process of its own; gives the process and its address."""
    command = [sys.executable, "-c", "from learnloop.cli.main import main; main()", "serve", *words]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            found = re.search(r"running on (http://[\d.:]+)", json.loads(line)["message"])
            if found:
                break
        yield process, found[1]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "learnloop.toml").write_text(CONFIG)
    return tmp_path


def test_a_server_answers_until_it_is_told_to_stop(folder):
    with served(folder) as (process, address):
        assert httpx2.get(f"{address}/ready").json()["ready"] is True
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
    assert (folder / "learnloop.sqlite").is_file()
    assert not (folder / "learnloop.sqlite-wal").exists()


def test_ten_megabytes_and_nonsense_are_refused_and_the_server_goes_on(folder):
    with served(folder) as (_, address):
        large = httpx2.post(f"{address}/v1/anything", content=b"x" * 10_000_000)
        assert large.status_code == 413
        host, _, port = address.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as raw:
            raw.sendall(b"\x00\xff nonsense\r\n\r\n")
            assert raw.recv(100).startswith(b"HTTP/1.1 400")
        assert httpx2.get(f"{address}/health").status_code == 200
