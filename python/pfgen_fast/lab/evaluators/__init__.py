"""Evaluators score texts: the protocol `Evaluator` and its implementations."""
