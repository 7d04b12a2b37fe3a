"""Suites: questions with reference answers and keyword rules, their files, and their compiled form."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .faults import find_faults as find_faults
    from .getting import FetchedSuite as FetchedSuite
    from .getting import get_suite as get_suite
    from .getting import remove_suite as remove_suite

__getattr__ = names_on_demand(__name__)
