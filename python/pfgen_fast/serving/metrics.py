"""Metrics for Prometheus: numbers of requests and answers, times, and requests in progress."""

from __future__ import annotations

from ..files.optional import optional
from .admission import Room

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The metrics of one server."""

    def __init__(self, room: Room, signature: str) -> None:
        self._prometheus = prometheus = optional("prometheus_client", extra="serve", needed_for="the server")
        self._registry = registry = prometheus.CollectorRegistry()
        names = ("path", "status")
        self._requests = prometheus.Counter("pfgen_requests", "Requests.", names, registry=registry)
        self._answers = prometheus.Counter("pfgen_answers", "Scored answers.", registry=registry)
        self._seconds = prometheus.Histogram(
            "pfgen_request_seconds", "Time of requests.", names[:1], registry=registry, buckets=_SECONDS
        )
        in_progress = prometheus.Gauge("pfgen_requests_in_progress", "Requests in progress.", registry=registry)
        in_progress.set_function(lambda: room.n_requests)
        held = prometheus.Gauge("pfgen_held_bytes", "Bytes of their bodies.", registry=registry)
        held.set_function(lambda: room.n_bytes)
        prometheus.Info("pfgen", "Signature of the scores.", registry=registry).info({"signature": signature})
        prometheus.ProcessCollector(registry=registry)

    def count(self, path: str, status: int, seconds: float, n_answers: int) -> None:
        """Counts a request; `path` must have few different values."""
        self._requests.labels(path, status).inc()
        self._seconds.labels(path).observe(seconds)
        self._answers.inc(n_answers)

    def text(self) -> bytes:
        """The metrics in the text format of Prometheus."""
        content: bytes = self._prometheus.generate_latest(self._registry)
        return content
