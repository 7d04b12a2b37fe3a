"""Scores by item and model from any evaluation: what `compare`, `leaderboard`, gates and experiments on items read."""
