"""What the CUDA driver answers to tensor-map encodes, against the model of ptxcheck."""
