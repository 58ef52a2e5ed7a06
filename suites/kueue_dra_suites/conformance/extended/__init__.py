"""Extended resources that DeviceClasses stand for."""
