"""Describes the server: an OpenAPI document, and an HTML page without external resources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .. import __version__
from ..files.untrusted_text import html_text
from .endpoints import ENDPOINTS, Endpoint, Schema, json_object
from .limits import Limits
from .replies import ARROW, JSON

_REFUSALS = {
    "400": "The batch is invalid; the message names the row.",
    "401": "The token is missing or wrong.",
    "413": "The body, the batch or an answer is too large.",
    "415": "The body is compressed, or has another media type.",
    "429": "The server is busy; try again after the time in Retry-After.",
    "503": "The request has waited for too long; try again later.",
}


def described(signature: str, limits: Limits) -> dict[str, Any]:
    """The OpenAPI document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pfgen-fast",
            "version": __version__,
            "description": f"Rewards of answers. Signature of the scores: {signature}. Limits: {limits}.",
        },
        "security": [{"bearer": []}, {"basic": []}, {}],
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "Any name; the password is the token.",
                },
            },
            "schemas": {"Refusal": json_object(error={"type": "string"})},
        },
        "paths": {
            **{path: _post(endpoint, limits) for path, endpoint in ENDPOINTS.items()},
            "/healthz": _get("Whether the server runs; needs no token", JSON),
            "/metrics": _get("Metrics for Prometheus", "text/plain"),
        },
    }


def _post(endpoint: Endpoint, limits: Limits) -> dict[str, Any]:
    def content(schema: Schema) -> dict[str, Any]:
        of_arrow = {ARROW: {"schema": {"type": "string", "format": "binary"}}} if endpoint.has_arrow else {}
        return {JSON: {"schema": schema}, **of_arrow}

    refusal = {JSON: {"schema": {"$ref": "#/components/schemas/Refusal"}}}
    refusals = {status: {"description": why, "content": refusal} for status, why in _REFUSALS.items()}
    return {
        "post": {
            "summary": endpoint.summary,
            "requestBody": {"required": True, "content": content(endpoint.request(limits))},
            "responses": {"200": {"description": endpoint.summary, "content": content(endpoint.reply)}, **refusals},
        }
    }


def _get(summary: str, kind: str) -> dict[str, Any]:
    return {"get": {"summary": summary, "responses": {"200": {"description": summary, "content": {kind: {}}}}}}


def page(document: Mapping[str, Any]) -> bytes:
    """The document as HTML without scripts and external resources."""
    about = document["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{html_text(about['title'])}</title><style>{_STYLE}</style>",
        f"<h1>{html_text(about['title'])} {html_text(about['version'])}</h1><p>{html_text(about['description'])}</p>",
        "<p>For programs: <a href=openapi.json>openapi.json</a>",
    ]
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            parts.append(f"<h2><b>{method.upper()}</b> {html_text(path)}</h2><p>{html_text(one['summary'])}.</p>")
            if "requestBody" in one:
                parts += [_schema("Request", one["requestBody"]["content"])]
                parts += [_schema("Reply", one["responses"]["200"]["content"]), _refusals(one["responses"])]
    return "\n".join(parts).encode()


def _schema(name: str, content: Mapping[str, Any]) -> str:
    kinds = " or ".join(f"<code>{html_text(kind)}</code>" for kind in content)
    shown = json.dumps(content[JSON]["schema"], indent=2)
    lines = "\n".join(map(html_text, shown.split("\n")))
    return f"<details><summary>{name}: {kinds}</summary><pre>{lines}</pre></details>"


def _refusals(responses: Mapping[str, Any]) -> str:
    rows = (f"<tr><td>{status}<td>{html_text(one['description'])}" for status, one in responses.items())
    return f"<table>{''.join(rows)}</table>"


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em;color-scheme:light dark}"
    "h2{font-size:1.1em;margin-top:2em}pre{overflow:auto}td{padding-right:1em}p{overflow-wrap:anywhere}"
)
