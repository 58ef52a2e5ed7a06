"""A kind cluster from nothing to ready, and away again: nodes, images, the driver, Kueue, and profiles on it."""

from __future__ import annotations

import contextlib
import fcntl
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kubernetes import config as kubeconfig
from kubernetes.client import ApiClient

from clusters.gotool import tell
from clusters.kind import charts, pytest_kind_cluster
from clusters.kind.charts import DRIVER_NAMESPACE, KUEUE_DEPLOYMENT, KUEUE_NAMESPACE, PROFILE_ANNOTATION
from clusters.kind.components import KIND, KIND_VARIABLE, KUBECTL, KUBECTL_VARIABLE, tool
from clusters.kind.engine import Engine, engine, run
from clusters.kind.host import Host
from clusters.kind.profiles import Profile
from clusters.kind.records import PREFIX, Record, a_record, records
from clusters.kind.supply import Images, Supply
from clusters.objects import Objects
from clusters.releases import Release, release
from clusters.waiting import Limits, NotYet, elapsed_since, eventually, moment_now
from kueue_dra_ref.api.conditions import is_true
from kueue_dra_ref.target import Manifest, Ref

GATES = ("DynamicResourceAllocation", "DRAExtendedResource", "DRAPartitionableDevices", "DRAConsumableCapacity")
"""Of Kubernetes; on by default from 1.36 on, named so that an older node image serves too."""
CGROUPFS: Manifest = {
    "containerdConfigPatches": [
        '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\n  SystemdCgroup = false'
    ],
    "kubeadmConfigPatches": ["kind: KubeletConfiguration\ncgroupDriver: cgroupfs\n"],
}
"""For containerd 1.7, which is what the node image built here has."""
STATE = "cluster.json"
ROLLED = "profile"
APPLIED = "applied.json"
DRIVER_DAEMONSET = "dra-example-driver-kubeletplugin"
NOWHERE = "kueue-dra.dev/nowhere"
READY_SECONDS = 240.0
ROLL_SECONDS = 180.0
LOAD_SECONDS = 120.0


@dataclass(slots=True, kw_only=True)
class NodeCluster:
    """A kind cluster that this process may use: the one it made, or one that was kept."""

    record: Record
    engine: Engine
    release: Release
    images: Images
    nodes: int = 1
    profile: Profile | None = None

    @property
    def kubeconfig(self) -> Path:
        """The file with which the cluster is reached."""
        return self.record.folder / "kubeconfig"

    def write(self) -> None:
        """Write down what it is made of, for the run that takes it over."""
        told = {"kueue": self.release.minor, "images": asdict(self.images), "nodes": self.nodes}
        (self.record.folder / STATE).write_text(json.dumps(told), encoding="utf-8")

    def client(self) -> ApiClient:
        """Connect to it."""
        client: ApiClient = kubeconfig.new_client_from_config(str(self.kubeconfig))  # type: ignore[no-untyped-call] # ships no types
        return client

    def objects(self, limits: Limits | None = None) -> Objects:
        """Reach its objects as its administrator."""
        return Objects(api=self.client(), limits=limits or Limits())

    def kubectl(self, *words: str, stdin: str = "", within: float = ROLL_SECONDS) -> str:
        """Run kubectl against it."""
        argv = [str(tool(KUBECTL, KUBECTL_VARIABLE)), "--kubeconfig", str(self.kubeconfig), *words]
        return run(argv, stdin=stdin, within=within)

    def server_version(self) -> str:
        """The version of Kubernetes that its API server says it is of."""
        return str(self.objects().call("GET", "/version").body.get("gitVersion", ""))

    def kind(self, *words: str, within: float = ROLL_SECONDS) -> str:
        """Run kind, told which engine and network."""
        return run([str(tool(KIND, KIND_VARIABLE)), *words], env=_environment(self.engine), within=within)

    @contextlib.contextmanager
    def under(self, profile: Profile, *, alone: bool = False) -> Iterator[None]:
        """Have Kueue and the driver run with a profile until the block ends, whoever else uses the cluster.

        Several processes may be under one profile at once; ``alone`` waits until nobody else is under any.
        """
        with (self.record.folder / "profile.lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            while self._rolled() != profile.name:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if self._rolled() != profile.name:
                    self._roll_out(profile)
                if not alone:
                    fcntl.flock(lock, fcntl.LOCK_SH)  # another may have come in between: hence the loop
            self.profile = profile
            yield

    def _rolled(self) -> str:
        """Name the profile that runs."""
        file = self.record.folder / ROLLED
        return file.read_text(encoding="utf-8") if file.exists() else ""

    def _roll_out(self, profile: Profile) -> None:
        (self.record.folder / ROLLED).write_text("", encoding="utf-8")
        with telling(f"profile {profile.name}: {profile.about}"):
            self._applied_once(charts.driver_manifests(self.images.driver, profile.driver))
            mark = f"{profile.name}-{secrets.token_hex(2)}"
            kueue = charts.kueue_manifests(self.release, self.images.kueue, profile.configuration(), mark=mark)
            self._applied_once(kueue)
            self.driver_ready(profile)
            self._kueue_ready(mark)
        (self.record.folder / ROLLED).write_text(profile.name, encoding="utf-8")

    def restart_kueue(self) -> None:
        """End Kueue's pod, and wait for the next one to be ready."""
        assert self.profile is not None
        mark = f"{self.profile.name}-{secrets.token_hex(2)}"
        kueue = charts.kueue_manifests(self.release, self.images.kueue, self.profile.configuration(), mark=mark)
        self._applied_once(kueue)
        self._kueue_ready(mark)

    def restart_driver(self) -> None:
        """End the driver's pods, and wait for the next ones."""
        assert self.profile is not None
        self.kubectl("-n", DRIVER_NAMESPACE, "rollout", "restart", "daemonset")
        self.driver_ready(self.profile)

    def withdraw_driver(self) -> None:
        """Let the driver run on no node, and take its slices away."""
        self._select_nodes({NOWHERE: "true"})
        self.kubectl("-n", DRIVER_NAMESPACE, "wait", "pods", "--all", "--for=delete", f"--timeout={ROLL_SECONDS:g}s")
        self.kubectl("delete", "resourceslices", "--all")

    def bring_driver_back(self) -> None:
        """Let the driver run again, and wait for its devices."""
        assert self.profile is not None
        self._select_nodes(None)
        self.driver_ready(self.profile)

    def _select_nodes(self, selector: Mapping[str, str] | None) -> None:
        change = {"spec": {"template": {"spec": {"nodeSelector": selector}}}}
        self.kubectl(
            "-n", DRIVER_NAMESPACE, "patch", "daemonset", DRIVER_DAEMONSET, "--type=merge", "-p", json.dumps(change)
        )

    def _applied_once(self, manifests: Sequence[Manifest]) -> None:
        """Apply what is not there as it should be; kinds that others need come first."""
        file = self.record.folder / APPLIED
        before: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        texts = {str(Ref.of(each)): json.dumps(each, sort_keys=True) for each in manifests}
        fresh = [each for each in manifests if before.get(str(Ref.of(each))) != texts[str(Ref.of(each))]]
        first = [each for each in fresh if each["kind"] in ("Namespace", "CustomResourceDefinition")]
        rest = [each for each in fresh if each not in first]
        for some in (first, rest):
            if some:
                listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": some})
                self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=listed)
        file.write_text(json.dumps(before | texts), encoding="utf-8")

    def driver_ready(self, profile: Profile) -> None:
        """Wait until the driver runs on every node that it is for, and has published what the profile says."""
        self.kubectl("-n", DRIVER_NAMESPACE, "rollout", "status", "daemonset", "--timeout", f"{ROLL_SECONDS:g}s")
        objects = self.objects()

        def published() -> None:
            found = {pool: len(devices) for pool, devices in complete_pools(objects).items()}
            if not found or set(found.values()) != {profile.devices}:
                raise NotYet(f"devices in complete pools: {found}, expected {profile.devices} in each")

        eventually(published, within=ROLL_SECONDS, every=0.2, at_most=0.5, what="the driver to publish its devices")

    def _kueue_ready(self, mark: str) -> None:
        """Wait for the pod of this roll-out to be ready and its webhooks to answer.

        Kueue writes its certificate into a Secret and waits to see it in its volume, which the kubelet looks after
        once a minute, or at once when the pod changes; so the pod is touched until it is ready.
        """
        objects, touches = self.objects(), 0

        def ready() -> None:
            nonlocal touches
            pods = objects.list("v1", "Pod", KUEUE_NAMESPACE)
            ours = [pod for pod in pods if (pod["metadata"].get("annotations") or {}).get(PROFILE_ANNOTATION) == mark]
            if not ours:
                raise NotYet("no pod of Kueue's")
            if not any(is_true(pod, "Ready") for pod in ours):
                touches += 1
                objects.patch(Ref.of(ours[0]), {"metadata": {"annotations": {"kueue-dra.dev/look": str(touches)}}})
                raise NotYet(f"Kueue's pod is {ours[0].get('status', {}).get('phase')}, not ready")
            probe = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "probe"}}
            answer = objects.call("POST", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors?dryRun=All", probe)
            if not answer.ok:
                raise NotYet(f"a flavor is answered with {answer.code} {answer.message}")

        eventually(ready, within=ROLL_SECONDS, every=0.5, at_most=1.0, what=f"Kueue in {KUEUE_DEPLOYMENT} to be ready")


def existing(name: str) -> NodeCluster | None:
    """Take over a finished cluster by its name: one that was kept, or one of another process; None without it."""
    for record in records():
        if record.name == name and (record.folder / STATE).exists():
            told = json.loads((record.folder / STATE).read_text(encoding="utf-8"))
            images, minor = Images(**told["images"]), release(told["kueue"])
            return NodeCluster(record=record, engine=engine(), release=minor, images=images, nodes=told["nodes"])
    return None


def create(
    supply: Callable[[Engine], Supply], minor: Release, *, nodes: int = 1, name: str = "", kept: bool = False
) -> NodeCluster:
    """Create a cluster, with its images on the nodes; Kueue and the driver come with the first profile.

    Raises:
        ClusterTrouble: something is missing or fails; what was begun is taken away again.

    """
    used = engine()
    remove_orphans(used)
    with telling("the parts of the cluster"):
        chosen = supply(used)
        images, archives = chosen.images(), chosen.archives()
    record = a_record(name or f"{PREFIX}{secrets.token_hex(3)}", used.name, kept=kept)
    record.write()
    try:
        Host(engine=used).prepare(closed=chosen.closed)
        cluster = NodeCluster(record=record, engine=used, release=minor, images=images, nodes=nodes)
        with telling(f"kind cluster {record.name}: {nodes} node(s), {used.name}, images {chosen.name}"):
            _create_nodes(cluster, chosen)
        with telling(f"loading {len(archives)} image archives"):
            for archive in archives:
                cluster.kind("load", "image-archive", str(archive), "--name", record.name, within=LOAD_SECONDS)
        cluster.write()
    except BaseException:
        delete(record, used)
        raise
    return cluster


def delete(record: Record, used: Engine) -> None:
    """Delete a cluster, and put the machine back as it was when it was the last one."""
    with telling(f"deleting the cluster {record.name}"):
        record.folder.mkdir(parents=True, exist_ok=True)
        kind, kubectl = tool(KIND, KIND_VARIABLE), tool(KUBECTL, KUBECTL_VARIABLE)
        pytest_kind_cluster.delete(
            record.name, folder=record.folder, kind=kind, kubectl=kubectl, environment=_environment(used)
        )
        record.forget()
    if not any(True for _ in records()):
        Host(engine=used).restore()


def remove_orphans(used: Engine) -> None:
    """Delete clusters whose owner was killed before it could."""
    for record in list(records()):
        if record.orphaned:
            tell(f"found the cluster {record.name}, whose run was killed")
            delete(record, used)


def _create_nodes(cluster: NodeCluster, chosen: Supply) -> None:
    """Have kind make the nodes, and wait until they and the default service account are there."""
    file = cluster.record.folder / "kind.json"
    file.write_text(
        json.dumps(kind_config(cluster.nodes, cgroupfs=chosen.closed and needs_cgroupfs())), encoding="utf-8"
    )
    pytest_kind_cluster.create(
        cluster.record.name,
        folder=cluster.record.folder,
        image=cluster.images.node,
        config=file,
        kind=tool(KIND, KIND_VARIABLE),
        kubectl=tool(KUBECTL, KUBECTL_VARIABLE),
        environment=_environment(cluster.engine),
    )
    objects = cluster.objects()

    def ready() -> None:
        nodes = objects.list("v1", "Node")
        waiting = [node["metadata"]["name"] for node in nodes if not is_true(node, "Ready")]
        if waiting or len(nodes) < cluster.nodes:
            raise NotYet(f"{len(nodes)} nodes, not ready: {', '.join(waiting) or 'none'}")
        if objects.read(Ref(api_version="v1", kind="ServiceAccount", name="default", namespace="default")) is None:
            raise NotYet("no service account named default")

    eventually(ready, within=READY_SECONDS, every=0.5, at_most=1.0, what="the nodes to be ready")


def complete_pools(objects: Objects) -> dict[str, list[Manifest]]:
    """Give the devices of each pool whose newest generation is all there."""
    pools: dict[str, list[Manifest]] = {}
    for each in objects.list("resource.k8s.io/v1", "ResourceSlice"):
        pools.setdefault(each["spec"]["pool"]["name"], []).append(each["spec"])
    newest = {
        name: [one for one in specs if _generation(one) == max(map(_generation, specs))]
        for name, specs in pools.items()
    }
    return {
        name: [device for spec in specs for device in spec.get("devices") or ()]
        for name, specs in newest.items()
        if len(specs) == specs[0]["pool"]["resourceSliceCount"]
    }


def _generation(spec: Manifest) -> int:
    return int(spec["pool"]["generation"])


def kind_config(nodes: int, *, cgroupfs: bool = False) -> Manifest:
    """Write kind's configuration: one control plane, and workers when there is more than one node.

    ``cgroupfs`` keeps systemd out of the containers' cgroups.
    """
    workers = [{"role": "worker"} for _ in range(nodes - 1)]
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "featureGates": dict.fromkeys(GATES, True),
        "runtimeConfig": {"resource.k8s.io/v1": "true"},
        "nodes": [{"role": "control-plane"}, *workers],
        **(CGROUPFS if cgroupfs else {}),
    }


def needs_cgroupfs() -> bool:
    """Whether this machine has cgroup v1: there runc freezes what systemd manages, and on a busy machine fails to."""
    return not Path("/sys/fs/cgroup/cgroup.controllers").exists()


def _environment(used: Engine) -> Mapping[str, str]:
    return {**used.environment, **Host(engine=used).environment}


class telling:  # noqa: N801 # used as a statement, as contextlib's own are
    """Say what begins, and how long it took."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        self._began = moment_now()
        tell(self._what)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        done = "done" if kind is None else "ended early"
        tell(f"{self._what}: {done} after {elapsed_since(self._began):.0f} s")
