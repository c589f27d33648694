"""The one `compendia` command, and the demo.

Products of matrices are small here, and many at once: threads of numpy's BLAS would wait for one another and
for torch's far longer than they compute. On two busy cores a plan took 0.2 s with two of them and 0.03 s with
one. They are counted when numpy is first imported, so the command says one before; a variable that is set
already is heard.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
