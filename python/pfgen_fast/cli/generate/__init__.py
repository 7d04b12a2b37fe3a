"""The commands that generate: `generate`, `sweep` and `prompts`."""
