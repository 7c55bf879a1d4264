"""Northstar Workboard: a small board of work items, kept apart by tenant."""
