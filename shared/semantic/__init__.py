"""Sentence models: texts to vectors, whose cosines tell how alike the texts are. Without Java.

Only this package imports ONNX Runtime and the tokenizers, which are those of the extra
``semantic``.
"""

import os

# Read when NumPy is imported. Its products are small here: a thread for each core takes longer to
# start than to compute, and memory for each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
