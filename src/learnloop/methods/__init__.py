"""Methods, each in a file of its own name; the only place where parts are put together."""

from learnloop.methods.parts import Parts
from learnloop.registry import Registry

METHODS: Registry[object] = Registry(
    "method",
    {
        "oracle": "learnloop.methods.oracle:Oracle",
        "zero_shot": "learnloop.methods.zero_shot:ZeroShot",
        "few_shot": "learnloop.methods.few_shot:FewShot",
        "chain_of_thought": "learnloop.methods.chain_of_thought:ChainOfThought",
        "self_refine": "learnloop.methods.self_refine:SelfRefine",
        "grow_prompt": "learnloop.methods.grow_prompt:GrowPrompt",
        "mem_prompt": "learnloop.methods.mem_prompt:MemPrompt",
        "self_stream_icl": "learnloop.methods.self_stream_icl:SelfStreamICL",
        "dynamic_cheatsheet": "learnloop.methods.dynamic_cheatsheet:DynamicCheatsheet",
        "mam_stream_icl": "learnloop.methods.mam_stream_icl:MAMStreamICL",
        "drpg": "learnloop.methods.drpg:DRPG",
        "drpg_no_feedback": "learnloop.methods.drpg_no_feedback:DRPGNoFeedback",
        "posthoc_policy": "learnloop.methods.posthoc_policy:PosthocPolicy",
        "gated_prompt": "learnloop.methods.gated_prompt:GatedPrompt",
    },
    group="learnloop.methods",
)

__all__ = ["METHODS", "Parts"]
