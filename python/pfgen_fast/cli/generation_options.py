"""The options that shape the prompts and answers of a run, in commands that generate one."""

from __future__ import annotations

from typing import Any

from . import options
from .app import fail
from .command_class import option_group


@option_group
class PromptOptions:
    """Arguments of `Generation.of` that affect prompts, with the defaults of the published runs."""

    examples: options.Examples = 20
    seed: options.Seed = ""
    prefix: options.Prefix = ""
    system: options.System = ""
    instruction: options.Instruction = ""
    context: options.ContextFile = None
    sentences: options.Sentences = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        if self.sentences is not None and self.context is None:
            fail(f"--sentences {self.sentences}: expected with --context FILE, from which they are drawn")
        return {**vars(self), "sentences": self.sentences or 5}


@option_group
class GenerationOptions(PromptOptions):
    """Arguments of `Generation.of`, with the defaults of the published runs."""

    temperature: options.Temperature = 1.0
    top_p: options.TopP = 0.98
    top_k: options.TopK = None
    max_tokens: options.MaxTokens = 300
    stop: options.Stop = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as arguments."""
        return {**super().arguments, "stop": self.stop or ()}
