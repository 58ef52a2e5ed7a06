"""The texts of KEP-2941 made runnable: what Kueue must decide about Kubernetes devices and quota."""
