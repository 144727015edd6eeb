"""The profile of one rank: steps, operators, data preparation, memory, efficiency."""
