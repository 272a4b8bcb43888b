"""Pure arithmetic without a model: an error in, a decision out; and the sensors."""

from learnloop.protocols import Gate
from learnloop.registry import Registry

GATES: Registry[Gate] = Registry(
    "gate",
    {
        "bayes": "learnloop.control.bayes:BayesGate",
        "cusum": "learnloop.control.cusum:CUSUMGate",
        "derivative": "learnloop.control.derivative:DerivativeGate",
        "fixed": "learnloop.control.fixed:FixedGate",
        "integral": "learnloop.control.integral:IntegralGate",
        "never": "learnloop.control.never:NeverGate",
        "proportional": "learnloop.control.proportional:ProportionalGate",
    },
    group="learnloop.gates",
)
