"""Checks whether a driver is fit for quota: its DeviceClasses, ResourceSlices and demos."""
