"""The checkpoints of a training run: `Checkpoints` finds them, and `Watch` scores each complete one once."""

from .._on_demand import names_on_demand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .found import Checkpoint as Checkpoint
    from .found import Checkpoints as Checkpoints
    from .server_command import ServerCommand as ServerCommand
    from .watch import Watch as Watch

__getattr__ = names_on_demand(__name__)
