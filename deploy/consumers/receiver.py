#!/usr/bin/env python3
"""Stops and starts the workers of a group when Unwedge asks for it.

It verifies the signature of each call (Standard Webhooks 1.0.0) and runs one of
two commands of yours. A call that was carried out is not carried out again.

    receiver.py --secret-file FILE --stop COMMAND --start COMMAND [--listen 127.0.0.1:9900]
"""
import argparse
import base64
import hashlib
import hmac
import http.server
import subprocess
import sys
import threading
import time

TOLERANCE = 5 * 60  # seconds that a call may be old or early
REMEMBERED = 1000  # calls that are known again


def key_of(secret):
    """The key in a secret: base64 after whsec_, else its bytes."""
    if secret.startswith("whsec_"):
        return base64.b64decode(secret[len("whsec_"):])
    return secret.encode()


def signed(headers, body, secret, now):
    """Tells whether a body is signed with the secret, and not long ago."""
    call, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not stamp.isdigit() or abs(now - int(stamp)) > TOLERANCE:
        return False
    content = call.encode() + b"." + stamp.encode() + b"." + body
    want = "v1," + base64.b64encode(hmac.new(key_of(secret), content, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(want, one) for one in headers.get("webhook-signature", "").split())


class Receiver(http.server.BaseHTTPRequestHandler):
    secret_file, commands = "", {}
    done, one_at_a_time = {}, threading.Lock()

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(min(size, 1 << 16))
        with open(self.secret_file) as f:  # read again: it may have been rotated
            secret = f.read().strip()
        if self.path not in self.commands:
            return self.answer(404, "neither /stop nor /start")
        if not signed(self.headers, body, secret, time.time()):
            return self.answer(401, "the signature is not ours, or too old")
        with self.one_at_a_time:
            self.carry_out(self.headers["webhook-id"], self.commands[self.path])

    def carry_out(self, call, command):
        if call in self.done:
            return self.answer(200, "done before")
        run = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        print(call, "ended with", run.returncode, run.stdout.decode(errors="replace").strip(), file=sys.stderr)
        if run.returncode != 0:
            return self.answer(500, "the command failed: see the log")
        self.done[call] = True
        while len(self.done) > REMEMBERED:
            del self.done[next(iter(self.done))]
        self.answer(200, "done")

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--secret-file", required=True)
    p.add_argument("--stop", required=True)
    p.add_argument("--start", required=True)
    p.add_argument("--listen", default="127.0.0.1:9900")
    a = p.parse_args()
    host, port = a.listen.rsplit(":", 1)
    Receiver.secret_file, Receiver.commands = a.secret_file, {"/stop": a.stop, "/start": a.start}
    server = http.server.ThreadingHTTPServer((host, int(port)), Receiver)
    print("listening on %s:%d" % server.server_address, file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
