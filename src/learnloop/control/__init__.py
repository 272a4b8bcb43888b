"""Pure arithmetic without a model: an error in, a decision out; and the sensors."""

from learnloop.protocols import Gate, Recall, Trial
from learnloop.registry import Registry

GATES: Registry[Gate] = Registry(
    "gate",
    {
        "adaptive_cusum": "learnloop.control.adaptive_cusum:AdaptiveCUSUMGate",
        "adwin": "learnloop.control.adwin:ADWINGate",
        "bayes": "learnloop.control.bayes:BayesGate",
        "cusum": "learnloop.control.cusum:CUSUMGate",
        "ddm": "learnloop.control.ddm:DDMGate",
        "derivative": "learnloop.control.derivative:DerivativeGate",
        "e_detector": "learnloop.control.e_detector:EDetectorGate",
        "fixed": "learnloop.control.fixed:FixedGate",
        "integral": "learnloop.control.integral:IntegralGate",
        "leaky_integral": "learnloop.control.leaky_integral:LeakyIntegralGate",
        "never": "learnloop.control.never:NeverGate",
        "page_hinkley": "learnloop.control.page_hinkley:PageHinkleyGate",
        "pid": "learnloop.control.pid:PIDGate",
        "proportional": "learnloop.control.proportional:ProportionalGate",
    },
    group="learnloop.gates",
)

TRIALS: Registry[Trial] = Registry(
    "rollback",
    {
        "betting": "learnloop.control.betting:BettingTrial",
        "sprt": "learnloop.control.sprt:SPRTTrial",
    },
    group="learnloop.trials",
)

RECALLS: Registry[Recall] = Registry(
    "recall", {"best": "learnloop.control.recall:BestRecall"}, group="learnloop.recalls"
)
