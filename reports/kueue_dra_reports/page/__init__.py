"""A report as one HTML page, without the network: the only room that knows the template engine."""
