"""What an API server of Kubernetes 1.31 to 1.37 does with objects of resource.k8s.io before it stores them."""

from .admission import Admitted, Circumstances, Refused, admitted
from .kubernetes import Kubernetes
from .minors import CONTROL_PLANE, MINORS

__all__ = ["CONTROL_PLANE", "MINORS", "Admitted", "Circumstances", "Kubernetes", "Refused", "admitted"]
