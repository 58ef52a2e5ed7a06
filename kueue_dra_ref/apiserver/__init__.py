"""What an API server of Kubernetes 1.31 to 1.37 does with objects of resource.k8s.io before it stores them.

No counterpart: a package, it decides nothing.
"""

from kueue_dra_ref.apiserver.kubernetes_version import Kubernetes
from kueue_dra_ref.apiserver.kubernetes_versions import CONTROL_PLANE, MINORS
from kueue_dra_ref.apiserver.request_handler import (
    AcceptedRequest,
    RejectedRequest,
    RequestContext,
    admitted,
)

__all__ = [
    "CONTROL_PLANE",
    "MINORS",
    "AcceptedRequest",
    "Kubernetes",
    "RejectedRequest",
    "RequestContext",
    "admitted",
]
