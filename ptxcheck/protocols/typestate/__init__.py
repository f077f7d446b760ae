"""What one thread does on its own paths: typestate of barriers and accesses of shared memory."""
