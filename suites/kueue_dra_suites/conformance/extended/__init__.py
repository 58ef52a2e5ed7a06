"""Extended resources that map to DeviceClasses."""
