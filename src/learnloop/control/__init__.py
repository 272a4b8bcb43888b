"""Pure arithmetic without a model: an error in, a decision out; and the sensors."""

from learnloop.protocols import Gate
from learnloop.registry import Registry

GATES: Registry[Gate] = Registry("gate", {}, group="learnloop.gates")
