"""Bridges to other labelling tools."""
