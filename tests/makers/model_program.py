"""A program that serves a model of a checkpoint: `model_program.py PATH PORT`. It writes its process ID beside PATH."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

path, port = Path(sys.argv[1]), int(sys.argv[2])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"data": [{"id": f"served-{path.name}"}]})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = f"{body['model']}: {(path / 'model.safetensors').read_text()} {body['seed']}"
        self.reply({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": text}}]})

    def reply(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if (path / "broken").exists():
    sys.exit("the weights are broken")
path.with_name(f"pid-{path.name}").write_text(str(os.getpid()))
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
