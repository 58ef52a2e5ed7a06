"""What an API server takes, changes and refuses of resource.k8s.io before Kueue sees it."""
