"""Ground truth from a GPU: the runnable kernels of the corpus and their mutants, run under delays."""
