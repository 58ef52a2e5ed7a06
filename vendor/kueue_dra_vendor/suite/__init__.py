"""A pytest suite over a vendor's files: ``pytest --pyargs kueue_dra_vendor.suite --vendor-dir DIR``."""
