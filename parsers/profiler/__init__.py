"""Reads the output of MindSpore's profilers (and of torch_npu, under the same names) into frames."""
