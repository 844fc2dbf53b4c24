"""What turns Python into machine code: decorators, memory, and the cache of what is compiled."""
