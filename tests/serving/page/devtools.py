"""A headless Chromium spoken to over its DevTools protocol, with the standard library alone."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One tab. `errors` holds everything that went wrong on the page: exceptions, console errors, policy violations."""

    def __init__(self, program, takes_pictures=False):
        self.takes_pictures = takes_pictures
        self.folder = tempfile.mkdtemp(prefix="dragoman-page-")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en",
                     "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"]
        self.process = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port, path = self._wait_for_port()
        self.port = port
        self.socket = self._connect(port, path)
        self.number = 0
        self.errors = []
        for domain in ("Page", "Runtime", "Log", "DOM", "Accessibility", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)  # focus events come as in a window in use

    def _wait_for_port(self):
        name = os.path.join(self.folder, "DevToolsActivePort")
        end = time.time() + 60
        while time.time() < end:
            if os.path.exists(name) and len(open(name).read().split()) == 2:
                port = int(open(name).read().split()[0])
                pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=30))
                for page in pages:
                    if page["type"] == "page":
                        return port, page["webSocketDebuggerUrl"].split(str(port), 1)[1]
            time.sleep(0.1)
        raise RuntimeError("chromium did not open its debugging port within 60 s")

    @staticmethod
    def _connect(port, path):
        connection = socket.create_connection(("127.0.0.1", port), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        connection.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade"
                            f"\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        return connection

    def _read(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise RuntimeError("chromium closed the connection")
            data += piece
        return data

    def _message(self):
        data = b""
        while True:
            first, second = self._read(2)
            size = second & 127
            if size >= 126:
                size = struct.unpack(">H" if size == 126 else ">Q", self._read(2 if size == 126 else 8))[0]
            data += self._read(size)
            if first & 128:
                return json.loads(data)

    def _send(self, text):
        mask = os.urandom(4)
        size = len(text)
        head = (bytes([0x81, 0x80 | size]) if size < 126 else bytes([0x81, 0xFE]) + struct.pack(">H", size)
                if size < 65536 else bytes([0x81, 0xFF]) + struct.pack(">Q", size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(text)))

    def call(self, method, **parameters):
        self.number += 1
        self._send(json.dumps({"id": self.number, "method": method, "params": parameters}).encode())
        while True:
            message = self._message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._take(message.get("method"), message.get("params", {}))

    def _take(self, event, what):
        if event == "Tracing.dataCollected":
            self.traced.extend(what["value"])
        elif event == "Tracing.tracingComplete":
            self.traced_whole = True
        elif event == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Runtime.consoleAPICalled" and what["type"] in ("error", "assert"):
            self.errors.append("console: " + json.dumps(what["args"])[:300])
        elif event == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"][:80] + " ... " + what["entry"]["text"][-150:])
        elif event == "Page.javascriptDialogOpening":
            self.errors.append("a dialog opened: " + what["message"])

    def run(self, script):
        """The value of a JavaScript expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def trace(self, action):
        """The events of a DevTools trace of the main thread while `action` runs."""
        self.traced, self.traced_whole = [], False
        self.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": ["devtools.timeline", "blink.user_timing"]})
        action()
        self.call("Tracing.end")
        while not self.traced_whole:
            message = self._message()
            self._take(message.get("method"), message.get("params", {}))
        return self.traced

    def run_on(self, accessible, function):
        """The value of a JavaScript function called on the element of a node of the accessibility tree."""
        there = self.call("DOM.resolveNode", backendNodeId=accessible["backendDOMNodeId"])["object"]["objectId"]
        answer = self.call("Runtime.callFunctionOn", objectId=there, functionDeclaration=function, returnByValue=True)
        return answer["result"].get("value")

    def wait(self, script, seconds=30):
        end = time.time() + seconds
        while time.time() < end:
            if self.run(script):
                return
            time.sleep(0.03)
        raise RuntimeError(f"waited {seconds} s in vain for: {script}")

    def wait_until_still(self):
        """Until two frames pass in which the page does not change."""
        self.wait("""new Promise(done => {
            const before = document.body.outerHTML;
            requestAnimationFrame(() => requestAnimationFrame(() =>
                done(before === document.body.outerHTML && document.getAnimations().length === 0)));
        })""")

    def open(self, address, ready="document.querySelector('#from option') !== null"):
        """Opens an address in a tab that remembers nothing of what was typed or chosen before."""
        self.run("(() => { try { sessionStorage.clear(); localStorage.removeItem('theme'); } catch { /* not a page of a server */ } })()")
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait(f"document.readyState === 'complete' && ({ready})")

    def reload(self, ready="document.querySelector('#from option') !== null"):
        self.run("window.isOld = true")
        self.call("Page.reload")
        self.wait(f"!window.isOld && document.readyState === 'complete' && ({ready})")

    def before_each_page(self, script):
        """Runs a script in every page before the scripts of the page, until forget() is called with the result."""
        return self.call("Page.addScriptToEvaluateOnNewDocument", source=script)["identifier"]

    def forget(self, script):
        self.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def prefer(self, **features):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key, code=None, shift=False):
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        codes = {"Tab": 9, "Home": 36, "End": 35, "Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, " ": 32}
        base = {"key": key, "code": code or key, "windowsVirtualKeyCode": codes.get(key, 0), "modifiers": 8 * shift}
        self.call("Input.dispatchKeyEvent", type="keyDown", **base, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **base)

    def undo(self):
        base = {"key": "z", "code": "KeyZ", "windowsVirtualKeyCode": 90, "modifiers": 2}
        self.call("Input.dispatchKeyEvent", type="keyDown", commands=["undo"], **base)
        self.call("Input.dispatchKeyEvent", type="keyUp", **base)

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[path])

    def click(self, selector):
        """A click with the mouse, in the middle of the first element of that selector."""
        x, y = self.run(f"(() => {{ const node = document.querySelector({json.dumps(selector)}); node.scrollIntoView({{block: 'center'}});"
                        " const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def picture(self, path):
        """The whole page as a PNG, if this browser takes pictures."""
        if not self.takes_pictures:
            return
        width, height = self.run("[innerWidth, Math.min(document.documentElement.scrollHeight, 8000)]")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.socket.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
