"""Rules of the Kubernetes API server about Jobs (Kubernetes: pkg/apis/batch/validation)."""
