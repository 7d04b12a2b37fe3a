"""The bench: what pfgen-fast takes, beside its oracle and the peers a user would otherwise take; see README.md."""
