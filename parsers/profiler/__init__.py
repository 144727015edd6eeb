"""What profilers of MindSpore (and of torch_npu, under the same names) leave on disk, as frames."""
