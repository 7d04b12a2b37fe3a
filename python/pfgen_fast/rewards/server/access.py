"""Access control: local programs may send requests, remote programs need the token, and other origins are refused.

The token is compared in constant time, and no message contains it.
"""

from __future__ import annotations

import base64
import hmac
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ...base.errors import ServingError
from ...base.file_reading import open_regular
from .limits import Refusal

TOKEN_VARIABLE = "PFGEN_FAST_TOKEN"
MIN_TOKEN_LENGTH = 16
_MAX_TOKEN_LENGTH = 4096


def find_token(file: Path | None) -> str | None:
    """The token in a file; without a file, in the environment (`PFGEN_FAST_TOKEN`). None if no token is set."""
    if file is None:
        token = os.environ.get(TOKEN_VARIABLE)
        return None if token is None else _checked(token, TOKEN_VARIABLE)
    try:
        with open_regular(file) as opened:
            mode = os.fstat(opened.fileno()).st_mode
            if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
                raise ServingError(f"{file}: others may read the token; expected mode 600 (chmod 600)")
            content = opened.read(_MAX_TOKEN_LENGTH + 2)
    except OSError as error:
        raise ServingError(f"{file}: cannot be read: {error.strerror or error}") from None
    return _checked(content.decode("latin-1").strip(), str(file))


def _checked(token: str, where: str) -> str:
    if not MIN_TOKEN_LENGTH <= len(token) <= _MAX_TOKEN_LENGTH or not all("!" <= letter <= "~" for letter in token):
        raise ServingError(f"{where}: expected a token of at least {MIN_TOKEN_LENGTH} ASCII characters without spaces")
    return token


class Guard:
    """Refuses requests without permission.

    Without a token, the host of a request must be the loopback. This protects against websites whose name resolves to
    the loopback (DNS rebinding). Requests of pages of other origins are always refused.
    """

    def __init__(self, token: str | None, port: int, host: str = "127.0.0.1") -> None:
        self._token = None if token is None else token.encode()
        bound = f"[{host}]" if ":" in host else host
        names = {"127.0.0.1", "localhost", "[::1]", bound}
        self._hosts = {f"{name}:{port}" for name in names} | (names if port == 80 else set())
        self._expected = f"{bound}:{port} or localhost:{port}"

    def check(self, headers: Mapping[str, str], *, is_open: bool = False) -> None:
        """Raises Refusal if a request with these headers may not be answered; with `is_open`, no token is needed."""
        host = headers.get("host", "").lower()
        if self._token is None and host not in self._hosts:
            raise Refusal(421, f"Host: expected {self._expected}")
        origin = headers.get("origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") or (
            origin is not None and origin not in (f"http://{host}", f"https://{host}")
        ):
            raise Refusal(403, "requests of pages of other origins are refused")
        if self._token is not None and not is_open and not hmac.compare_digest(_shown_token(headers), self._token):
            challenge = {"WWW-Authenticate": 'Bearer realm="pfgen-fast", Basic realm="pfgen-fast"'}
            raise Refusal(401, "Authorization: expected 'Bearer TOKEN' with the token of this server", challenge)


def _shown_token(headers: Mapping[str, str]) -> bytes:
    """The token of a request: a bearer token, or the password of basic authentication, which a URL can contain."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""
