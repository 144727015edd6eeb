"""Reads dumps of tensors: of MindSpore's kernel dump, of msprobe, and of Ascend devices."""
