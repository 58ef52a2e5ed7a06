"""CEL device selectors of DeviceClasses and claims (resource.k8s.io), evaluated as Kueue evaluates them.

Kubernetes: k8s.io/dynamic-resource-allocation/cel/compile.go (GetCompiler)
"""

from .backend import compiled
from .cost import cost_trap
from .model import CompileError, Device, EvaluationError, Undecided
from .overloads import lacking
from .selector import Selector

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
