"""Methods, each in a file of its own name; the only place where parts are put together."""

from learnloop.methods.parts import Parts
from learnloop.registry import Registry

METHODS: Registry[object] = Registry(
    "method",
    {
        "zero_shot": "learnloop.methods.zero_shot:ZeroShot",
        "self_stream_icl": "learnloop.methods.self_stream_icl:SelfStreamICL",
        "drpg": "learnloop.methods.drpg:DRPG",
        "gated_prompt": "learnloop.methods.gated_prompt:GatedPrompt",
    },
    group="learnloop.methods",
)

__all__ = ["METHODS", "Parts"]
