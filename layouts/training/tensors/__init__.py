"""The tensors page: what are the values, where are they not finite, and how do two steps or two runs differ?"""
