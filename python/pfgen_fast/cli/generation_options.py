"""The options that shape the answers of a run, in commands that generate one."""

from __future__ import annotations

from typing import Any

from . import options
from .app import fail
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
    sentences: options.Sentences = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        if self.sentences is not None and self.context is None:
            fail(f"--sentences {self.sentences}: expected with --context FILE, from which they are drawn")
        return {**vars(self), "stop": self.stop or (), "sentences": self.sentences or 5}
