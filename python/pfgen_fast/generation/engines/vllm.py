"""The engine `vllm`: runs vLLM's offline engine in this process, for local models on GPUs; see docs/generation.md."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ...base.errors import EngineError, optional
from ...base.untrusted_text import in_one_line
from ...scoring.reply_text import Mode, first_part
from ...suite.suite import Suite
from ..prompts import Request, Sampling
from ..protocol import Details, RawReply, Usage, reported_name, without_none
from . import transformers as local

_AT_ONCE = 512
"""The number of requests in a batch for vLLM: more than it runs at once, but not too many for reports of progress."""

_RESOURCES = frozenset(
    {
        *("gpu_memory_utilization", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"),
        *("max_num_seqs", "max_num_batched_tokens", "swap_space", "cpu_offload_gb", "kv_cache_memory_bytes"),
        *("enforce_eager", "enable_prefix_caching", "enable_chunked_prefill", "disable_log_stats"),
        *("download_dir", "load_format", "distributed_executor_backend", "block_size", "max_loras"),
    }
)
"""Arguments of vLLM that do not affect answers, so that config.json does not record them."""


class VllmEngine(local.LocalEngine):
    """Samples answers from a model that `vllm.LLM` loads."""

    name = "vllm"

    def __init__(
        self,
        *,
        suite: Suite | None,
        model: str,
        mode: Mode,
        sampling: Sampling,
        dtype: str = "auto",
        tensor_parallel: int = 1,
        path: str | None = None,
        trust_remote_code: bool = False,
        chat_template: str | None = None,
        enable_thinking: bool | None = None,
        chat_template_kwargs: Mapping[str, Any] | None = None,
        engine_args: Mapping[str, Any] | None = None,
    ) -> None:
        self._template = local.ChatTemplate.of(mode, chat_template, enable_thinking, chat_template_kwargs)
        self.parameters: Mapping[str, Any] = {
            "dtype": None if dtype == "auto" else dtype,
            "engine_args": {name: value for name, value in (engine_args or {}).items() if name not in _RESOURCES}
            or None,
            **self._template.parameters,
        }
        super().__init__(in_one_line(model, 200), sampling, _AT_ONCE)
        self._arguments = {
            "model": path or model,
            "dtype": dtype,
            "tensor_parallel_size": tensor_parallel,
            "trust_remote_code": trust_remote_code,
            "generation_config": "vllm",
            **(engine_args or {}),
        }

    def _load(self) -> None:
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")  # vLLM reads it when it is imported
        vllm = optional("vllm", extra="vllm", needed_for="the engine vllm", error=EngineError)
        self._params = vllm.SamplingParams
        try:
            self._model = vllm.LLM(**self._arguments)
        except Exception as error:  # each reason, such as a missing GPU, raises another type
            raise EngineError(
                f"the model {self._name} cannot be loaded by vLLM: {local.why_not_loaded(error)}"
            ) from None
        self._template.check(self._model.get_tokenizer(), self._name)

    def _draw(self, requests: Sequence[Request]) -> list[RawReply]:
        params = [self._sampling_params(request.seed) for request in requests]
        conversations = [list(request.prompt.messages) for request in requests if request.prompt.messages is not None]
        try:
            if conversations:
                outputs = self._model.chat(
                    conversations,
                    params,
                    use_tqdm=False,
                    chat_template=self._template.text,
                    chat_template_kwargs=self._template.variables or None,
                )
            else:
                tokenizer = self._model.get_tokenizer()
                prompts = [local.completion_tokens(tokenizer, request.prompt.text) for request in requests]
                outputs = self._model.generate([{"prompt_token_ids": ids} for ids in prompts], params, use_tqdm=False)
        except Exception as error:  # such as a prompt that is too long, or a crash of the engine
            others = f" and {len(requests) - 1} others" if len(requests) > 1 else ""
            asked = f"asked for {requests[0].name}{others}"
            raise EngineError(f"vLLM, model {self._name}: {local.why_not_loaded(error)} ({asked})") from None
        return [self._reply(output) for output in outputs]

    def _reply(self, output: Any) -> RawReply:
        tokenizer, drawn = self._model.get_tokenizer(), output.outputs[0]
        # vLLM's text has no special tokens, but some models use them as tags.
        text = local.decoded(tokenizer, drawn.token_ids) if local.markers(tokenizer) else drawn.text
        return RawReply(
            first_part(text, self._sampling.stop),
            Details(reported_name(drawn.finish_reason)),
            Usage(n_reply_tokens=len(drawn.token_ids)),
            opened=local.opened_reasoning(tokenizer, output.prompt_token_ids),
        )

    def _sampling_params(self, seed: int) -> Any:
        sampling = self._sampling
        return self._params(
            max_tokens=sampling.max_tokens,
            temperature=sampling.temperature,
            stop=list(sampling.stop),
            seed=seed,
            **without_none({"top_p": sampling.top_p, "top_k": sampling.top_k}),
        )
