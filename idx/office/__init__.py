"""Extraction of Office documents: Office Open XML and OpenDocument."""
