"""A server that simulates a model and its judge, to try checklists without a model. It needs no package.

    python examples/fake_judge.py &                                   # http://127.0.0.1:8765/v1
    pfgen-fast checklists generate --suite essays-en -m fake/long --base-url http://127.0.0.1:8765/v1 -o runs
    pfgen-fast checklists judge runs/* --suite essays-en -m fake/judge-1 --base-url http://127.0.0.1:8765/v1
    pfgen-fast checklists table runs/* --suite essays-en

It supports the part of the OpenAI protocol that the commands need. Equal requests get equal replies.
The model writes sentences with the words of its task: fake/long, fake/short, or fake/dull, which repeats itself. The
judge counts: a long answer without repeated sentences gets good verdicts. It reads no meaning, so its tables mean
nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import random
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
CHARACTERS_PER_TOKEN = 4
NATURES = {"long": (1.1, 0.0), "short": (0.4, 0.0), "dull": (1.0, 0.4)}
"""By a word in a model's name: the share of the wanted length that it writes, and the share of repeated sentences."""

SENTENCES = {
    "en": (
        "The first thing to say about {0} is how much it depends on {1}.",
        "Whoever looks at {0} for longer finds {1} behind it.",
        "There are {2} good reasons to begin with {0} and not with {1}.",
        "After {2} years, {0} was still there, and {1} had changed.",
        "Nobody had asked for {0}, so {1} came as a surprise.",
        "In short, {0} and {1} belong together.",
    ),
    "ja": (
        "{0}について最初に言えるのは、{1}と深く関わるということです。",
        "{0}を長く見ていると、その奥に{1}が見えてきます。",
        "{1}ではなく{0}から始める理由は{2}つあります。",
        "{2}年たっても{0}はそのままで、{1}だけが変わりました。",
        "誰も{0}を求めていなかったので、{1}は意外でした。",
        "つまり、{0}と{1}は切り離せません。",
    ),
}


def chance(*seeds: object) -> random.Random:
    """Random numbers that depend on the seeds alone."""
    return random.Random(hashlib.sha256(repr(seeds).encode("utf-8", "surrogatepass")).digest())


def answer(model: str, task: str, seed: object) -> str:
    """What the model writes: sentences with words of the task, in paragraphs."""
    language = "ja" if re.search("[\u3041-\u30ff]", task) else "en"
    topics = re.findall("[\u4e00-\u9fff\u30a1-\u30fc]{1,6}" if language == "ja" else "[A-Za-z]{5,}", task) or ["this"]
    usual = (chance(model).uniform(0.2, 1.1), 0.05)
    thoroughness, tedium = next((nature for word, nature in NATURES.items() if word in model), usual)
    wanted = re.search(r"(\d[\d,]*)\s*(?:or more )?(?:words|字|文字)", task)
    size = int(wanted[1].replace(",", "")) if wanted else 400 if language == "en" else 1200
    dice, length = chance(model, task, seed), 0
    message: list[str] = []
    while length < size * thoroughness or len(message) < 3:
        if message and dice.random() < tedium:
            sentence = dice.choice(message)
        else:
            first, other = dice.choice(topics), dice.choice(topics)
            sentence = dice.choice(SENTENCES[language]).format(first, other, dice.randint(2, 999))
        message.append(sentence)
        length += len(sentence.split()) if language == "en" else len(sentence)
    blank = " " if language == "en" else ""
    return "\n\n".join(blank.join(message[start : start + 6]) for start in range(0, len(message), 6))


def measured(text: str) -> tuple[int, int]:
    """The number of words of a text (of characters, if it is Japanese), and of sentences that stand in it again."""
    is_japanese = re.search("[\u3041-\u30ff]", text)
    sentences = [word.strip() for word in re.split(r"(?<=[.!?。！？])\s*", text) if len(word.strip()) > 15]
    return len(re.sub(r"\s", "", text)) // 3 if is_japanese else len(text.split()), len(sentences) - len(set(sentences))


def verdict(question: str, text: str) -> tuple[float, str]:
    """A level and a reason for it."""
    n_words, n_repeated = measured(text)
    quality = min(n_words / 350, 1.0) - 0.04 * n_repeated + chance(question, text).uniform(-0.3, 0.2)
    level = min(LEVELS, key=lambda level: abs(level - quality))
    return level, f"It has about {n_words} words, and {n_repeated} sentences again."


def judged_text(prompt: str) -> str:
    """What is judged: what stands between the marks of our prompts, or else the whole request."""
    match = re.search(r"<answer>\n(.*)\n</answer>", prompt, re.DOTALL)
    return match[1] if match else prompt


def reply_to(messages: list[dict[str, Any]], model: str, seed: object) -> str:
    """The reply to a request, which is known by what it asks for."""
    prompt = str(messages[-1].get("content"))
    text = judged_text(prompt)
    if re.search(r'"checklist_id"[^}]*"evaluation_score"', prompt):  # the form of a reply to a checklist
        begin = prompt.rfind('[{"checklist_id": 0, "checklist_content"')
        questions = json.JSONDecoder().raw_decode(prompt, begin)[0] if begin >= 0 else []
        verdicts = [(question["checklist_id"], *verdict(question["checklist_content"], text)) for question in questions]
        names = ("checklist_id", "evaluation_score", "reason")
        return json.dumps([dict(zip(names, item, strict=True)) for item in verdicts], ensure_ascii=False)
    if "evaluation_score" in prompt:  # one overall rating
        level, reason = verdict("overall", text)
        return json.dumps({"reason": reason, "evaluation_score": round(10 * level)})
    form = prompt.rstrip().rpartition("\n")[2]
    if form.startswith(('["', "[[1,", "[3,")):  # a step of `checklists draft`, which shows the form of its reply
        return drafted(prompt, form, chance(model, prompt, seed))
    if "[[" in prompt:  # a rating by a criterion, as `discern` and `experiment judge` ask for
        level, reason = verdict(prompt[:200], text)
        return f"{reason} [[{round(1 + 4 * level)}]]"
    return answer(model, prompt, seed)


CRITERIA = ("on the subject", "long enough", "correct", "clear", "free of repetition", "polite", "vivid")


def drafted(prompt: str, form: str, dice: random.Random) -> str:
    """Questions in one of two wordings, groups of equal questions, or a vote, which prefers the first criteria."""
    if form.startswith('["'):
        wordings = ("Is the answer {}?", "Would you call the answer {}?")
        return json.dumps([dice.choice(wordings).format(name) for name in dice.sample(CRITERIA, 4)])
    numbered = re.findall(r"^(\d+)\. .* answer (.*)\?$", prompt, re.MULTILINE)
    if form.startswith("[[1,"):
        groups = [[int(number) for number, text in numbered if text == name] for name in CRITERIA]
        return json.dumps([group for group in groups if len(group) > 1])
    numbered.sort(key=lambda question: dice.random() + CRITERIA.index(question[1]) / 5)
    return json.dumps([int(number) for number, _ in numbered[:5]])


class Handler(BaseHTTPRequestHandler):
    """Answers requests of the OpenAI protocol."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def do_GET(self) -> None:
        """The list of models; any other name serves as well."""
        self._send(200, {"object": "list", "data": [{"id": "fake/judge-1", "object": "model"}]})

    def do_POST(self) -> None:
        """A reply of the model or of the judge."""
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            messages = body.get("messages") or [{"role": "user", "content": body["prompt"]}]
            model, seed = str(body["model"]), body.get("seed")
        except (ValueError, LookupError, AttributeError, TypeError):
            self._send(400, {"error": {"message": "expected a request of the OpenAI protocol"}})
            return
        text = reply_to(messages, model, seed)
        limit = CHARACTERS_PER_TOKEN * int(body.get("max_tokens") or 1 << 20)
        reason = "length" if len(text) > limit else "stop"
        text = text[:limit]
        choice = {"index": 0, "finish_reason": reason, "text": text, "message": {"role": "assistant", "content": text}}
        sizes = (len(json.dumps(messages)) // CHARACTERS_PER_TOKEN, len(text) // CHARACTERS_PER_TOKEN)
        usage = dict(zip(("prompt_tokens", "completion_tokens"), sizes, strict=True))
        says = {"model": f"{model}-2026-01-01", "system_fingerprint": "fake_1"}
        self._send(200, {"object": "chat.completion", **says, "choices": [choice], "usage": usage})

    def _send(self, status: int, reply: dict[str, Any]) -> None:
        body = json.dumps(reply).encode()
        with contextlib.suppress(OSError):  # the client may have disconnected
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of single requests."""


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    daemon_threads = True
    request_queue_size = 128


def serving(port: int) -> Server:
    """A server on this machine alone; `serve_forever` lets it begin."""
    return Server(("127.0.0.1", port), Handler)


def main() -> None:
    """Serves until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Plays a model and a judge that speak the OpenAI protocol.")
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    with serving(options.port) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
