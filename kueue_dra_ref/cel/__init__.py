"""CEL device selectors of DeviceClasses and claims (resource.k8s.io), evaluated as Kueue evaluates them.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (GetCompiler)
"""

from kueue_dra_ref.cel.backend import compiled
from kueue_dra_ref.cel.cost import cost_trap
from kueue_dra_ref.cel.model import CompileError, Device, EvaluationError, Undecided
from kueue_dra_ref.cel.overloads import lacking
from kueue_dra_ref.cel.selector import Selector

__all__ = [
    "CompileError",
    "Device",
    "EvaluationError",
    "Selector",
    "Undecided",
    "compiled",
    "cost_trap",
    "lacking",
]
