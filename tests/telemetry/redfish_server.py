"""A Redfish service over a folder: its index.json files as they are, at /redfish/v1 and below.

    redfish_server.py FOLDER [CERTIFICATE KEY]

Prints its port, and ends when its standard input closes. FOLDER/server.json, read anew for each request, changes
what it does: {"user", "password": basic authentication, "page": members of one page of a collection, "status":
{path: code}, "text": {path: what is sent instead}, "delay_s": {path: seconds}}. FOLDER/requests.log gets a line for
each request: path, and whether it had an Authorization header.
"""

import base64
import http.server
import json
import pathlib
import ssl
import sys
import threading
import time
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
BASE = "/redfish/v1"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def send(self, code, text, **headers):
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def is_allowed(self, rules):
        if "user" not in rules:
            return True
        wanted = base64.b64encode(f"{rules['user']}:{rules['password']}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {wanted}"

    def page_of(self, path, text, query, rules):
        resource = json.loads(text)
        size = rules.get("page")
        if size is None or "Members" not in resource:
            return text
        skip = int(query.get("$skip", ["0"])[0])
        rest = resource["Members"][skip + size :]
        resource["Members"] = resource["Members"][skip : skip + size]
        if rest:
            resource["Members@odata.nextLink"] = f"{path}?$skip={skip + size}"
        return json.dumps(resource)

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        path = url.path.rstrip("/")
        with open(ROOT / "requests.log", "a", encoding="ascii") as log:
            log.write(f"{path} {'with' if self.headers.get('Authorization') else 'without'}\n")
        settings = ROOT / "server.json"
        rules = json.loads(settings.read_text()) if settings.exists() else {}
        time.sleep(rules.get("delay_s", {}).get(path, 0))
        if not self.is_allowed(rules):
            return self.send(401, "{}", WWW_Authenticate="Basic")
        if path in rules.get("status", {}):
            return self.send(rules["status"][path], "{}")
        if path in rules.get("text", {}):
            return self.send(200, rules["text"][path])
        file = ROOT / path.removeprefix(BASE).lstrip("/") / "index.json"
        if not path.startswith(BASE) or not file.is_file():
            return self.send(404, "{}")
        return self.send(200, self.page_of(path, file.read_text(), urllib.parse.parse_qs(url.query), rules))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that does not trust the certificate


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
