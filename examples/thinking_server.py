"""A server that plays a model which reasons before it answers, so that reasoning can be tried without a model.

    python examples/thinking_server.py &                              # http://127.0.0.1:8766/v1
    pfgen-fast generate -e openai -m org/thinker --mode chat -s mini -n 2 --base-url http://127.0.0.1:8766/v1

The answers are drawn from the n-grams of the packaged suite `mini`; the reasoning is filler. `--style` chooses how the
server marks reasoning, `--budget` after how many characters of reasoning a reply is cut, and `--refuse temperature`
plays a model that accepts no temperature.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pfgen_fast import NgramSampler, Suite

STYLES = ("tags", "template", "field", "channels", "none")
THOUGHT = "The examples begin with Q: and A:, so I answer in one line.\n\nA: first try. "


class Thinker:
    """Draws answers, and puts reasoning before them."""

    def __init__(self, style: str, budget: int | None, refused: str | None) -> None:
        self.suite = Suite.load("mini")
        self.sampler = NgramSampler(self.suite, order=8)
        self.style, self.budget, self.refused = style, budget, refused

    def choice(self, prompt: str, seed: int) -> dict[str, Any]:
        """The choice in a reply to a prompt."""
        asked = prompt.removesuffix("\nA:").rpartition("Q: ")[2].strip()
        known = [question for question in self.suite if question.question == asked]
        answer = self.sampler.sample(known[0].question_id, [seed])[0] if known else "I do not know."
        thought = THOUGHT * (1 + seed % 40)
        if self.style != "none" and self.budget is not None and len(thought) > self.budget:
            answer, thought, reason = "", thought[: self.budget], "length"
        else:
            reason = "stop"
        text = {
            "tags": f"<think>\n{thought}" + (f"\n</think>\n\n{answer}" if answer else ""),
            "template": thought + (f"\n</think>\n\n{answer}" if answer else ""),
            "channels": f"<|channel|>analysis<|message|>{thought}"
            + (f"<|end|><|start|>assistant<|channel|>final<|message|>{answer}<|return|>" if answer else ""),
        }.get(self.style, answer)
        message = {"role": "assistant", "content": text}
        if self.style == "field":
            message["reasoning_content"] = thought
        return {"index": 0, "finish_reason": reason, "message": message, "text": text}


class Handler(BaseHTTPRequestHandler):
    """Answers requests of the OpenAI protocol."""

    protocol_version = "HTTP/1.1"
    thinker: Thinker

    def do_POST(self) -> None:
        """A reply of the model."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if self.thinker.refused in body:
            message = f"Unsupported parameter: '{self.thinker.refused}' is not supported with this model."
            self._send(400, {"error": {"message": message, "code": "unsupported_parameter"}})
            return
        prompt = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        choice = self.thinker.choice(prompt, int(body.get("seed") or 0))
        n_prompt, n_reply = len(prompt) // 4, len(str(choice["message"])) // 4
        usage = {"prompt_tokens": n_prompt, "completion_tokens": n_reply, "total_tokens": n_prompt + n_reply}
        reply = {"id": "0", "object": "chat.completion", "created": 0, "model": "thinker", "choices": [choice]}
        self._send(200, {**reply, "usage": usage}, is_stream=bool(body.get("stream")))

    def _send(self, status: int, reply: dict[str, Any], *, is_stream: bool = False) -> None:
        content = json.dumps(reply).encode()
        if is_stream:  # one chunk has the whole message
            content = content.replace(b'"message":', b'"delta":').replace(b".completion", b".completion.chunk")
            content = b"data: %s\n\ndata: [DONE]\n\n" % content
        with contextlib.suppress(OSError):  # the client has gone
            self.send_response(status)
            self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""


def serving(port: int, *, style: str = "tags", budget: int | None = None, refused: str | None = None) -> Any:
    """Opens the server; `serve_forever` starts it."""
    thinker = Thinker(style, budget, refused)
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Thinking", (Handler,), {"thinker": thinker}))
    server.daemon_threads = True
    return server


def main() -> None:
    """Serves until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Plays a model that reasons, with the OpenAI protocol.")
    parser.add_argument("--port", type=int, default=8766)
    parser.add_argument("--style", choices=STYLES, default="tags", help="how reasoning is marked")
    parser.add_argument("--budget", type=int, help="characters of reasoning after which a reply ends")
    parser.add_argument("--refuse", metavar="PARAMETER", help="a parameter that is refused")
    options = parser.parse_args()
    with serving(options.port, style=options.style, budget=options.budget, refused=options.refuse) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
