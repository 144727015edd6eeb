"""The frames of a profile from a trace of torch.profiler (Kineto): operators, kernels, steps, memory, calls, communication."""
