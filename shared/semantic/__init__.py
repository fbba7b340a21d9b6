"""Sentence models: texts to vectors, whose cosines tell how alike the texts are. Without Java.

Only this package imports ONNX Runtime and the tokenizers, which are those of the extra
``semantic``.
"""

import os


def keep_to_one_thread() -> None:
    """Have NumPy, which reads these variables when it is imported, start no threads of its own.

    Its products are small here: a thread for each core takes longer to start than to compute, and
    memory. Only programs may say this of their process, not whoever imports the library.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
