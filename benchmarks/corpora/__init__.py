"""Corpora of real PTX, built from PyPI packages into a cache folder; nothing of them is committed."""
