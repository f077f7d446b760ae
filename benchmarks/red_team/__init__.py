"""Pairs of kernels, a right and a broken one, by people who had not seen the checker: what it says of each.

    python -m benchmarks.red_team

Each file says in its first lines what is to be expected, and why. Figures at first sight are in
`benchmarks/history/first_sight.md`.
"""
