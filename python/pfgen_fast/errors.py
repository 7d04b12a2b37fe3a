"""The errors of the package: one base class, one subclass for each kind of input that can be wrong.

Every message is one sentence that says what is wrong, where, and what was expected.
"""


class PfgenError(Exception):
    """Base of everything this package raises on purpose."""


class SuiteError(PfgenError, ValueError):
    """A suite folder, a question file or a keyword rule that does not follow the rules."""


class TrialsError(PfgenError, ValueError):
    """Questions or answers that cannot be scored; the message names the row."""
