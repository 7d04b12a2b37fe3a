"""Generates answers: prompts, engines, the run writer, sweeps, batch files and the n-gram sampler."""
