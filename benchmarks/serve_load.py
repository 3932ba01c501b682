#!/usr/bin/env python3
"""Measures `dragoman serve`: equality with the command line under cancels, throughput, overload, long mixed load.

    serve_load.py PROGRAM MODEL LINES equal [--requests 100000] [--connections 64]
    serve_load.py PROGRAM MODEL LINES throughput [--texts 1,16] [--connections 128]
    serve_load.py PROGRAM MODEL LINES overload [--seconds 60]
    serve_load.py PROGRAM MODEL LINES slow [--seconds 20]
    serve_load.py PROGRAM MODEL LINES soak [--minutes 30]

PROGRAM: build/dragoman; MODEL: a model folder; LINES: a text file, one sentence a line. --kind says what is asked for:
translations  the lines, from en to de; compared with `dragoman translate`. The default.
completions   of a language model: the first 24 characters of a line, behind a number in letters, are continued by --tokens
              tokens, drawn with one seed; compared with `dragoman generate`.
embeddings    of an encoder; compared with `dragoman embed`.

equal       every request has a text of its own; one in ten is asked first on a connection that is closed before the
            answer. Each answer is compared with what the command writes.
throughput  all lines through the command and through the server, several rounds in turn; texts a second.
            The client runs on the same machine and takes its share of it.
overload    finds the capacity C by a constant rate, raised until p99 is above 1 s or a request is refused; then 0.5,
            1, 2 and 4 C, sent by the clock whatever comes back, each for some seconds. Takes a model slow enough that
            the client can send 4 C beside it.
slow        slowhttptest (Debian package) holds 2,000 connections in its modes H, B, R and X; beside it 200 good requests.
soak        mixed load, some 0.6 C of texts or --rate: memory and files open every minute, and the slope of memory after the first third.
Standard library only, slow apart. Status 1 when an answer is wrong, lost or doubled.
"""

import argparse
import asyncio
import collections
import json
import pathlib
import random
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request


class Server:
    """A server on a free port, until the block ends."""

    def __init__(self, kind, *more):
        command = [str(kind.program), "serve", "--model", f"{kind.languages}{kind.model}", "--port", "0", *more]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.port = None

    def __enter__(self):
        for line in self.process.stderr:
            if found := re.search(r"serving at http://127.0.0.1:(\d+)", line):
                self.port = int(found[1])
                return self
        sys.exit("the server did not start")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(timeout=90)
        print(f"server ended with status {status}")

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
            for line in reply.read().decode().splitlines():
                if line.startswith(name + " "):
                    return float(line.split()[-1])
        return float("nan")

    def memory_mb(self):
        return self.metric("process_resident_memory_bytes") / 1e6


def post_bytes(path, fields):
    body = json.dumps(fields).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """One connection with one request under way at most."""

    def __init__(self):
        self.buffer = b""
        self.answer = None
        self.transport = None
        self.closed = False

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end]
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15 : head.find(b"\r", at) if head.find(b"\r", at) > 0 else None])
        if len(self.buffer) < end + 4 + length:
            return
        body = self.buffer[end + 4 : end + 4 + length]
        extra = self.buffer[end + 4 + length :]
        self.buffer = b""
        self.closed = self.closed or b"connection: close" in head.lower()  # after the last request that it may carry
        if self.answer is not None and not self.answer.done():
            # Bytes behind the answer would be a second one.
            self.answer.set_result((int(head[9:12]) if not extra else -1, body))

    def connection_lost(self, _):
        self.closed = True
        if self.answer is not None and not self.answer.done():
            self.answer.set_result((0, b""))

    def ask(self, data):
        self.answer = asyncio.get_running_loop().create_future()
        if self.closed:
            self.answer.set_result((0, b""))
        else:
            self.transport.write(data)
        return self.answer


async def connect(port):
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * percent / 100))] if values else float("nan")


def one_line(values):
    return "p50 {:.1f} ms, p99 {:.1f} ms, p99.9 {:.1f} ms".format(*(1e3 * percentile(values, p) for p in (50, 99, 99.9)))


# ---- what is asked for


class Kind:
    """What a server is asked for: requests, and what the command line writes for the same texts."""

    languages = ""  # in front of the folder
    path = ""  # of a request

    def __init__(self, arguments):
        self.program, self.model, self.tokens = arguments.program, arguments.model, arguments.tokens

    def texts(self, lines, count):
        """So many texts, each with its number in front."""
        return [f"{i} {lines[i % len(lines)]}" for i in range(count)]

    def request(self, texts):
        """The bytes that ask for one text, or for several at once."""
        return post_bytes(self.path, self.fields(texts[0] if len(texts) == 1 else texts))

    def offline(self, texts):
        """What the command writes for each text, and its seconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "in").write_text("".join(text + "\n" for text in texts))
            begin = time.monotonic()
            command = [self.program, *self.command(), "--model", self.model, "--input", path / "in", "--output", path / "out"]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            seconds = time.monotonic() - begin
            return [self.written(line) for line in (path / "out").read_text().split("\n")[:-1]], seconds


class Translations(Kind):
    languages = "en:de="
    path = "/translate"

    def texts(self, lines, count):
        """Texts of one sentence: the server translates several apart, `translate` a line as one."""
        return super().texts([line for line in lines if not re.search(r"[.!?]\W*\s\W*[^\W\d_a-z]", line)], count)

    def fields(self, text):
        return {"q": text, "source": "en", "target": "de"}

    def command(self):
        return ["translate"]

    def written(self, line):
        return line

    def answered(self, answer):
        return answer["translatedText"]


class Completions(Kind):
    path = "/v1/completions"

    def texts(self, lines, count):
        letters = str.maketrans("0123456789", "abcdefghij")  # a model of characters may lack digits
        return [text.translate(letters)[:24] for text in super().texts(lines, count)]

    def fields(self, text):
        return {"prompt": text, "max_tokens": self.tokens, "seed": 5, "temperature": 0.9, "top_p": 0.9}

    def command(self):
        options = ["--max-tokens", str(self.tokens), "--seed", "5", "--temperature", "0.9", "--top-p", "0.9"]
        return ["generate", "--json", *options]

    def written(self, line):
        return json.loads(line)["text"]

    def answered(self, answer):
        return answer["choices"][0]["text"]


class Embeddings(Kind):
    path = "/v1/embeddings"

    def fields(self, text):
        return {"input": text, "truncate": True}

    def command(self):
        return ["embed", "--json"]

    def written(self, line):
        return json.loads(line)["embedding"]

    def answered(self, answer):
        return answer["data"][0]["embedding"]


KINDS = {"translations": Translations, "completions": Completions, "embeddings": Embeddings}


# ---- equal


async def equal_client(port, asked, is_right, order, seen, seed):
    rng = random.Random(seed)
    connection = await connect(port)
    for i in order:
        data = asked(i)
        begin = time.monotonic()
        if rng.random() < 0.1:
            connection.ask(data)
            await asyncio.sleep(rng.random() * 0.05)
            connection.transport.abort()
            connection = await connect(port)
            seen["cancelled"] += 1
        while True:
            status, body = await connection.ask(data)
            if status != 503:
                break
            seen["refused"] += 1
            await asyncio.sleep(0.05 + 0.1 * rng.random())
        if status != 200:
            seen["doubled" if status == -1 else "lost"] += 1
            connection = await connect(port)
        elif is_right(i, json.loads(body)):
            seen["right"] += 1
            seen["seconds"].append(time.monotonic() - begin)
        else:
            seen["wrong"] += 1
    connection.transport.close()


async def equal(arguments, kind, lines):
    texts = kind.texts(lines, arguments.requests)
    expected, seconds = kind.offline(texts)
    print(f"command line: {len(texts)} texts in {seconds:.1f} s")
    seen = dict(right=0, wrong=0, lost=0, doubled=0, cancelled=0, refused=0, seconds=[])
    order = iter(range(arguments.requests))  # shared: each client takes the next
    with Server(kind) as server:
        begin = time.monotonic()
        clients = (
            equal_client(
                server.port,
                lambda i: kind.request([texts[i]]),
                lambda i, answer: kind.answered(answer) == expected[i],
                order,
                seen,
                k,
            )
            for k in range(arguments.connections)
        )
        await asyncio.gather(*clients)
        seconds, waited = time.monotonic() - begin, seen.pop("seconds")
        in_flight, memory = server.metric("dragoman_requests_in_flight"), server.memory_mb()
    print(f"{arguments.connections} connections, {seconds:.1f} s: {seen}, in flight at the end {in_flight:.0f}")
    print(f"{seen['right'] / seconds:.1f} answers/s, {one_line(waited)}, {memory:.1f} MB")
    return 0 if seen["right"] == arguments.requests else 1


# ---- throughput


def answer_in(data):
    """The status of the answer in `data`, or 0 when it is not whole yet."""
    head, found, body = data.partition(b"\r\n\r\n")
    if not found:
        return 0
    length = int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)[1])
    return int(head[9:12]) if len(body) == length else 0


def ask_all(port, requests, connections):
    """Asks all over so many connections, each with one request under way; how often one was refused and asked again.

    By plain sockets: asyncio takes four times the processor time, which the server beside it would lack.
    """
    waiting, refused = collections.deque(requests), 0
    with selectors.DefaultSelector() as selector:
        for _ in range(min(connections, len(requests))):
            client = socket.create_connection(("127.0.0.1", port))
            selector.register(client, selectors.EVENT_READ, [waiting[0], b""])
            client.sendall(waiting.popleft())
        while selector.get_map():
            for key, _ in selector.select():
                read = key.fileobj.recv(65536)
                if not read:
                    sys.exit("the server closed a connection with a request under way")
                key.data[1] += read
                status = answer_in(key.data[1])
                if status == 0:
                    continue
                if status != 200:
                    refused += 1
                    waiting.append(key.data[0])
                if not waiting:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                key.data[:] = [waiting.popleft(), b""]
                key.fileobj.sendall(key.data[0])
    return refused


async def throughput(arguments, kind, lines):
    texts = kind.texts(lines, len(lines))
    # The queue is long enough for all clients, so that no time goes into refusals.
    with Server(kind, "--longest-wait", "60", "--request-time", "120") as server:
        for size in map(int, arguments.texts.split(",")):
            rates = []
            for _ in range(arguments.rounds):
                _, alone = kind.offline(texts)
                requests = [kind.request(texts[i : i + size]) for i in range(0, len(texts), size)]
                begin, own = time.monotonic(), time.process_time()
                refused = ask_all(server.port, requests, arguments.connections)
                served = time.monotonic() - begin
                own = (time.process_time() - own) / served
                rates.append((len(texts) / alone, len(texts) / served))
                print(
                    f"{size} texts a request: {kind.command()[0]} {rates[-1][0]:.0f}, server {rates[-1][1]:.0f} texts/s, "
                    f"ratio {alone / served:.3f}, refused {refused}; this client took {own:.0%} of a core",
                    flush=True,
                )
            ratios = sorted(served / alone for alone, served in rates)
            print(f"{size} texts a request: median ratio {ratios[len(ratios) // 2]:.3f}")
    return 0


# ---- overload


class OpenLoop:
    """Requests at a constant rate, sent by the clock over a pool of connections."""

    def __init__(self, port, kind, lines):
        """lines: what is asked for in turn"""
        self.port, self.kind, self.texts = port, kind, kind.texts(lines, len(lines))
        self.idle = []
        self.good, self.refused, self.other, self.elapsed = [], [], collections.Counter(), 0.0

    async def one(self, data, due):
        while self.idle and self.idle[-1].closed:  # the server closes idle ones
            self.idle.pop()
        connection = self.idle.pop() if self.idle else await connect(self.port)
        status, _ = await connection.ask(data)
        seconds = time.monotonic() - due
        if status == 200:
            self.good.append(seconds)
        elif status == 503:
            self.refused.append(seconds)
        else:
            self.other[status] += 1
        if not connection.closed:
            self.idle.append(connection)

    async def run(self, rate, seconds):
        self.good, self.refused, self.other = [], [], collections.Counter()
        tasks = set()
        begin = time.monotonic()
        for i in range(int(rate * seconds)):
            due = begin + i / rate
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            task = asyncio.create_task(self.one(self.kind.request([self.texts[i % len(self.texts)]]), due))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        sent = time.monotonic() - begin
        while tasks:
            await asyncio.wait(tasks, timeout=60)
        self.elapsed = time.monotonic() - begin  # with what waited when the last was sent
        return sent


async def closed_loop_rate(loop, seconds, clients=16):
    """Answers a second to clients that ask again as soon as they are answered: near the capacity, quickly found."""
    until, answered = time.monotonic() + seconds, []

    async def client(k):
        connection = await connect(loop.port)
        i = k
        while time.monotonic() < until:
            if connection.closed:
                connection = await connect(loop.port)
            status, _ = await connection.ask(loop.kind.request([loop.texts[i % len(loop.texts)]]))
            answered.append(status)
            i += clients
        connection.transport.close()

    await asyncio.gather(*(client(k) for k in range(clients)))
    return answered.count(200) / seconds


async def find_capacity(loop, seconds):
    """The last rate, raised by 5 %, at which nothing is refused and p99 is below 1 s."""

    async def holds(rate):
        await loop.run(rate, seconds)
        return not loop.refused and not loop.other and percentile(loop.good, 99) <= 1.0

    rate = 0.7 * await closed_loop_rate(loop, seconds)
    while not await holds(rate):
        rate *= 0.8
        await asyncio.sleep(2)  # what waits goes
    while await holds(rate * 1.05):
        rate *= 1.05
    return rate


async def overload(arguments, kind, lines):
    with Server(kind) as server:
        loop = OpenLoop(server.port, kind, lines)
        capacity = await find_capacity(loop, arguments.step)
        print(f"capacity: {capacity:.1f} requests/s of one text; {server.memory_mb():.0f} MB", flush=True)
        for factor in (0.5, 1.0, 2.0, 4.0):
            sent = await loop.run(factor * capacity, arguments.seconds)
            total = len(loop.good) + len(loop.refused) + loop.other.total()
            print(
                f"{factor} C = {total / sent:.1f}/s: good {len(loop.good) / loop.elapsed:.1f}/s ({len(loop.good) / loop.elapsed / capacity:.2f} C), "
                f"{one_line(loop.good)}; refused {len(loop.refused) / total:.1%}, {one_line(loop.refused)}; "
                f"other {dict(loop.other) or 0}; {server.memory_mb():.0f} MB",
                flush=True,
            )
        begin = time.monotonic()
        while True:
            await loop.run(0.3 * capacity, max(0.5, 10 / capacity))  # three requests at least
            if not loop.refused and percentile(loop.good, 99) < 1.0:
                break
        print(f"back to normal {time.monotonic() - begin:.1f} s after the last; {server.memory_mb():.0f} MB")
    return 0


# ---- slow

SLOW_MODES = {
    "H (headers)": ["-H", "-i", "2"],
    "B (bodies)": ["-B", "-i", "2", "-s", "8192"],
    "R (ranges)": ["-R"],
    "X (reading)": ["-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3"],
}


async def slow(arguments, kind, lines):
    failed, texts = 0, kind.texts(lines, len(lines))
    for name, options in SLOW_MODES.items():
        with Server(kind) as server:
            url = f"http://127.0.0.1:{server.port}" + (kind.path if "-B" in options else "/")
            attack = subprocess.Popen(
                ["slowhttptest", *options, "-c", "2000", "-r", "1000", "-l", str(int(arguments.seconds)), "-u", url],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            most, seconds, good = 0.0, [], 0
            for i in range(200):
                connection = await connect(server.port)
                begin = time.monotonic()
                status, _ = await connection.ask(kind.request([texts[i % len(texts)]]))
                seconds.append(time.monotonic() - begin)
                good += status == 200
                connection.transport.close()
                most = max(most, server.metric("dragoman_connections")) if i % 10 == 0 else most
                await asyncio.sleep(arguments.seconds / 250)
            attack.wait()
            begin = time.monotonic()
            while server.metric("dragoman_connections") > 1 and time.monotonic() - begin < 30:
                await asyncio.sleep(0.2)
            failed += good != 200
            print(
                f"{name}: {good}/200 good, {one_line(seconds)}; at most {most:.0f} connections, none left "
                f"{time.monotonic() - begin:.1f} s after; {server.memory_mb():.0f} MB",
                flush=True,
            )
    return 1 if failed else 0


# ---- soak


async def mixed(port, kind, texts, rate, until, counted, failures, seed):
    """Single texts, batches, bad requests and clients that go."""
    rng = random.Random(seed)
    connection = await connect(port)
    while time.monotonic() < until:
        if connection.closed:  # the server closes idle ones
            connection = await connect(port)
        drawn = rng.random()
        data = kind.request([rng.choice(texts)])
        expected = {200, 503}
        if drawn < 0.1:
            data = kind.request(rng.sample(texts, rng.randint(2, 20)))
        elif drawn < 0.15:
            data = data.replace(b"{", b"[", 1)
            expected = {400}
        elif drawn < 0.2:
            connection.ask(data)
            await asyncio.sleep(rng.random() * 0.02)
            connection.transport.abort()
            connection = await connect(port)
            continue
        status, _ = await connection.ask(data)
        counted.append(status)
        if status not in expected:
            failures.append(status)
        if rng.random() < 0.01:
            connection.transport.abort()
            connection = await connect(port)
        await asyncio.sleep(rng.expovariate(rate))
    connection.transport.close()


async def soak(arguments, kind, lines):
    texts = kind.texts(lines, len(lines))
    with Server(kind) as server:
        rate = arguments.rate
        if not rate:
            loop = OpenLoop(server.port, kind, lines)
            rate = 0.3 * await find_capacity(loop, 3)
            for connection in loop.idle:
                connection.transport.close()
        clients = 32
        until = time.monotonic() + 60 * arguments.minutes
        counted, failures = [], []
        tasks = [
            asyncio.create_task(mixed(server.port, kind, texts, rate / clients, until, counted, failures, k)) for k in range(clients)
        ]
        print(f"{clients} clients, {rate:.0f} mixed requests/s at most, for {arguments.minutes} minutes")
        samples = []
        begin = time.monotonic()
        while time.monotonic() < until:
            await asyncio.sleep(min(15, max(1, until - time.monotonic())))
            samples.append((time.monotonic() - begin, server.memory_mb(), server.metric("process_open_fds")))
            if len(samples) % 4 == 0:
                print("{:.0f} s: {:.2f} MB, {:.0f} files open".format(*samples[-1]), flush=True)
        await asyncio.gather(*tasks)
        late = [sample for sample in samples if sample[0] > samples[-1][0] / 3]
        mean_t = sum(t for t, _, _ in late) / len(late)
        mean_m = sum(m for _, m, _ in late) / len(late)
        slope = sum((t - mean_t) * (m - mean_m) for t, m, _ in late) / sum((t - mean_t) ** 2 for t, _, _ in late)
        print(f"slope of memory: {slope * 3600:.2f} MB/h; unexpected answers: {failures[:20]}, {len(failures)} of {len(counted)}")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("model")
    parser.add_argument("lines", type=pathlib.Path)
    parser.add_argument("mode", choices=["equal", "throughput", "overload", "slow", "soak"])
    parser.add_argument("--kind", choices=list(KINDS), default="translations")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=32, help="of each completion")
    parser.add_argument("--texts", default="1,16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0, help="of each part; 0 = 60, slow: 20")
    parser.add_argument("--step", type=float, default=5, help="seconds of each rate tried for the capacity")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=0, help="requests/s of soak; 0 = by the capacity found")
    arguments = parser.parse_args()
    arguments.connections = arguments.connections or (64 if arguments.mode == "equal" else 128)
    arguments.seconds = arguments.seconds or (20 if arguments.mode == "slow" else 60)
    lines = [line for line in arguments.lines.read_text().split("\n") if line.strip()]
    return asyncio.run(globals()[arguments.mode](arguments, KINDS[arguments.kind](arguments), lines))


if __name__ == "__main__":
    sys.exit(main())
