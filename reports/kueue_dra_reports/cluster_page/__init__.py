"""A cluster for people: its cohort tree, quotas and work, as one HTML page and as a mermaid diagram."""
