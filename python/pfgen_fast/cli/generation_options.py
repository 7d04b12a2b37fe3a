"""The options that shape the answers of a run, in commands that generate one."""

from __future__ import annotations

from typing import Any

from . import options
from .command_class import option_group


@option_group
class GenerationOptions:
    """Arguments of `Generation.of`, with the defaults of the published runs."""

    temperature: options.Temperature = 1.0
    top_p: options.TopP = 0.98
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 300
    examples: options.Examples = 20
    seed: options.Seed = ""
    prefix: options.Prefix = ""
    stop: options.Stop = None
    system: options.System = ""
    instruction: options.Instruction = ""
    context: options.ContextFile = None
    sentences: options.Sentences = 5

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        return {**vars(self), "stop": self.stop or ()}
