"""The papers' studies: evaluators, judging, checklists (HelloEval), discernment (DHP), experiments, annotations."""
