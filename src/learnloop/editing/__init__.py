"""Who writes the text: policy writers and prompt editors."""

from learnloop.protocols import Editor
from learnloop.registry import Registry

EDITORS: Registry[Editor] = Registry(
    "editor",
    {
        "rewriter": "learnloop.editing.rewriter:Rewriter",
        "majority": "learnloop.editing.majority:MajorityEditor",
        "obedient": "learnloop.editing.obedient:ObedientEditor",
        "textgrad": "learnloop.editing.textgrad:TextGradEditor",
        "gepa": "learnloop.editing.gepa:GEPAEditor",
    },
    group="learnloop.editors",
)
