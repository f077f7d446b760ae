"""What one thread's paths decide about barriers, groups, fences and allocations: one module a mechanism."""
