"""The commands that show scores: `leaderboard`, `report` and `explain`."""
