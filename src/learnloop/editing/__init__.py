"""Who writes the text: policy writers and prompt editors."""

from learnloop.protocols import Editor
from learnloop.registry import Registry

EDITORS: Registry[Editor] = Registry("editor", {}, group="learnloop.editors")
