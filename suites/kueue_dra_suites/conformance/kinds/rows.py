"""The kinds of work as rows of the cases; each cites the requirement about its pod sets."""

from __future__ import annotations

import pytest

from kueue_dra_fixtures.lab import Lab, Queue
from kueue_dra_fixtures.marks import covers
from kueue_dra_ref.api.topologies import HOSTNAME

JOB_SET = pytest.param("JobSet", id="jobset", marks=covers("WORK-002"))
PYTORCH_JOB = pytest.param("PyTorchJob", id="pytorchjob", marks=covers("WORK-005"))
TF_JOB = pytest.param("TFJob", id="tfjob", marks=covers("WORK-005"))
XGBOOST_JOB = pytest.param("XGBoostJob", id="xgboostjob", marks=covers("WORK-005"))
PADDLE_JOB = pytest.param("PaddleJob", id="paddlejob", marks=covers("WORK-005"))
MPI_JOB = pytest.param("MPIJob", id="mpijob", marks=covers("WORK-005"))
JAX_JOB = pytest.param("JAXJob", id="jaxjob", marks=covers("WORK-005"))
RAY_CLUSTER = pytest.param("RayCluster", id="raycluster", marks=covers("WORK-006"))
RAY_JOB = pytest.param("RayJob", id="rayjob", marks=covers("WORK-010"))
RAY_SERVICE = pytest.param("RayService", id="rayservice", marks=covers("WORK-011"))
TRAIN_JOB = pytest.param("TrainJob", id="trainjob", marks=covers("WORK-030"))

OF_RAY = (RAY_CLUSTER, RAY_JOB, RAY_SERVICE)
"""Each kind of Ray."""
SEVERAL = (JOB_SET, PYTORCH_JOB, TF_JOB, XGBOOST_JOB, PADDLE_JOB, MPI_JOB, TRAIN_JOB, *OF_RAY)
"""Each kind with several pod sets, which are charged for their claims."""
EVERY = (*SEVERAL, JAX_JOB)
"""Each kind."""
TYPED = tuple(each for each in EVERY if each is not TRAIN_JOB)
"""Each kind that has its pod templates itself."""
LATE = tuple(each for each in SEVERAL if each is not TRAIN_JOB)
"""Each kind with several pod sets of its own, which also starts if it was created without its framework."""
OF_KUBEFLOW = (PYTORCH_JOB, TF_JOB, XGBOOST_JOB, PADDLE_JOB, JAX_JOB)
"""Each kind of training-operator."""
ENDING = (JOB_SET, PYTORCH_JOB, TF_JOB, XGBOOST_JOB, PADDLE_JOB, MPI_JOB, JAX_JOB, RAY_JOB, TRAIN_JOB)
"""Each kind that completes."""
OF_THREE = (JOB_SET, TF_JOB, TRAIN_JOB, *OF_RAY)
"""Each kind that may have three pod sets."""
RACK = "example.com/rack"


def two_racks(lab: Lab) -> Queue:
    """A queue with quota for two pods, whose flavor has two racks of one node with room for one pod each."""
    labels = {"pool": lab.name("pool")}
    flavor = lab.flavor(nodeLabels=labels, topologyName=lab.topology(RACK, HOSTNAME))
    for rack in ("a", "b"):
        lab.node(labels={**labels, RACK: rack}, cpu="1")
    return lab.queue(groups=[{flavor: {"cpu": 2}}])
