"""`python -m pfgen_fast.integrations.lm_eval` prints the directory of the tasks."""

from . import TASKS

if __name__ == "__main__":
    print(TASKS)
