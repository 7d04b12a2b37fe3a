"""Generates answers: prompts, engines, the run writer, sweeps, batch files and the n-gram sampler."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .context import Context as Context
    from .events import Events as Events
    from .events import Trouble as Trouble
    from .generating import Generated as Generated
    from .generating import Generation as Generation
    from .generating import generate as generate
    from .raw_replies import ReplySummary as ReplySummary
    from .reasoning import Reasoning as Reasoning
    from .reasoning import answer_text as answer_text
    from .setting import Setting as Setting

__getattr__ = names_on_demand(__name__)
