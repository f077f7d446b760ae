"""Ways to write a kernel in other words: verdicts must not contradict each other."""
