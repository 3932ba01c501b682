"""Lets promtool of Prometheus look at /metrics of a server that has answered some requests.

    python serving_metrics_check.py build/dragoman [CORPORA] [--model DIR]

Needs promtool (Debian package prometheus; it brings a service along, so scripts/install_dependencies.sh leaves it to
you); says so and passes where there is none. Ends with status 1 if promtool finds anything.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from served_model import Server, train


def ask(address, path, body=None):
    request = urllib.request.Request(address + path, data=body, headers={"Content-Type": "application/json"} if body else {})
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.read()
    except urllib.error.HTTPError as error:
        return error.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("corpora", nargs="?")
    parser.add_argument("--model")
    arguments = parser.parse_args()
    if shutil.which("promtool") is None:
        print("promtool: not there, /metrics is not checked (apt-get install prometheus)")
        return 0
    program = pathlib.Path(arguments.program).resolve()
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or train(program, pathlib.Path(folder))
        with Server(program, model) as server:
            for path in ["/languages", "/nothing", "/health", "/metrics"]:
                ask(server.address, path)
            ask(server.address, "/translate", b'{"q": "The cat sleeps.", "source": "en", "target": "de"}')
            ask(server.address, "/translate", b'{"q": ')
            metrics = ask(server.address, "/metrics")
    found = subprocess.run(["promtool", "check", "metrics"], input=metrics, capture_output=True)
    print((found.stdout + found.stderr).decode(), end="")
    is_good = found.returncode == 0 and not found.stdout + found.stderr and server.status == 0
    print(f"promtool: {'nothing found' if is_good else 'see above'} in {len(metrics.splitlines())} lines")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
