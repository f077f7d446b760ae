"""The language server: what an editor asks about PTX and CUDA files, answered by the checker and the table."""
