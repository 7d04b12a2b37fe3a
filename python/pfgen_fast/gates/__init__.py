"""Gates: checks with a clear answer, for continuous integration: not worse than another model, at least a score."""
