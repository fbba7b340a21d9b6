"""ONNX files: written from weights, and inspected before they are loaded. Plain NumPy.

The package ``onnx`` would take 35 MB for a few dozen lines of its format.
"""
