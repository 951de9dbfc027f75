"""Attacks a new server with requests generated from its OpenAPI document, valid and invalid, single and in sequence.

    python3 -m venv target/attack && target/attack/bin/pip install -r tests/attack/requirements.txt
    target/attack/bin/python tests/attack/attack.py target/debug/lathe --seconds 180

Fails when the document violates OpenAPI 3.1, when the document does not describe a response, when a request is wrongly
refused or wrongly accepted, at any 5xx, panic or internal error, and when the server's memory grows beyond a bound.
`schemathesis.toml` has the configuration of schemathesis, with the checks that are off and the reasons.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from openapi_spec_validator import validate
from target import Server, seed

HERE = Path(__file__).parent

# Growth of the server's memory that is allowed: caches fill up, and the allocator keeps freed memory. A leak of a
# kilobyte per request is found with 200,000 of them.
GROWTH_BYTES_MAX = 200 * 2**20


def main() -> int:
    arguments = parsed_arguments()
    # SIGTERM also stops the server.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as directory:
        server = Server(arguments.lathe, Path(directory))
        try:
            return attack(server, arguments)
        finally:
            server.stop()


def parsed_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe", type=Path, help="the program to attack")
    parser.add_argument("--seconds", type=int, help="go on for so long, however many requests that makes")
    parser.add_argument("--requests", type=int, default=0, help="begin again until there were so many requests")
    parser.add_argument("--examples", type=int, default=20, help="requests of each operation in each phase, at least")
    parser.add_argument("--seed", type=int, help="repeat the run that printed this seed")
    return parser.parse_args()


def attack(server: Server, arguments: argparse.Namespace) -> int:
    seeded = seed(server)
    validate(server.get("/v1/openapi.json"))
    print("the document is OpenAPI 3.1")
    before = (server.requests(), server.resident_bytes())
    failed = schemathesis(server, seeded, arguments)
    while not failed and server.requests() - before[0] < arguments.requests:
        failed = schemathesis(server, seeded, arguments)
    after = (server.requests(), server.resident_bytes())
    grown = after[1] - before[1]
    print(f"{after[0] - before[0]} requests; the server holds {grown / 2**20:.1f} MiB more than before")
    problems = server.problems()
    if grown > GROWTH_BYTES_MAX:
        problems.append(f"its memory grew by more than {GROWTH_BYTES_MAX / 2**20:.0f} MiB")
    for problem in problems:
        print(f"the server: {problem}")
    return 1 if failed or problems else 0


def schemathesis(server: Server, seeded: dict[str, str], arguments: argparse.Namespace) -> bool:
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml"), "run"]
    command += [f"{server.url}/v1/openapi.json", "--max-examples", str(arguments.examples)]
    # Some patterns are narrow, so that many generated values are discarded.
    command += ["--suppress-health-check", "filter_too_much"]
    if arguments.seconds is not None:
        command += ["--max-time", str(arguments.seconds)]
    if arguments.seed is not None:
        command += ["--seed", str(arguments.seed)]
    environment = os.environ | {f"LATHE_{name}": value for name, value in seeded.items()}
    environment |= {"PYTHONPATH": str(HERE), "SCHEMATHESIS_HOOKS": "hooks"}
    return subprocess.run(command, cwd=server.directory, env=environment).returncode != 0


if __name__ == "__main__":
    sys.exit(main())
