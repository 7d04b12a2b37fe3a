"""Asks a judge: requests, prompt templates, stored replies and the cost. The caller words and interprets them."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .asking import Asking as Asking
    from .budget import Estimate as Estimate
    from .budget import Prices as Prices
    from .budget import Spending as Spending
    from .reply_store import Replies as Replies
    from .requests import Judge as Judge
    from .requests import JudgeRequest as JudgeRequest
    from .requests import RequestOptions as RequestOptions
    from .requests import Server as Server
    from .template import Template as Template

__getattr__ = names_on_demand(__name__)
