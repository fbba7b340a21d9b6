"""Sentence models: texts to vectors, whose cosines tell how alike the texts are. Without Java.

Only this package imports ONNX Runtime, the tokenizers and NumPy, which are those of the extra
``semantic``.
"""
