"""`python -m pfgen_fast.integrations.lm_eval`: prints the folder of the tasks."""

from . import TASKS

print(TASKS)
