"""What we tell people: the ConformanceReport, its renderers, the pytest plugin that fills it, the command line."""
