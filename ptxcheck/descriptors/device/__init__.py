"""Tensor maps that kernels make or change with `tensormap.replace`.

`flow` follows what each map is made of, `made` judges it on the constraints of the host's encode, and `order` its
hand-over to the copies that use it; `pipeline.device_map_verdicts` sums up.
"""
