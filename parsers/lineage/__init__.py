"""Lineage of a run: its settings, data sets, metrics, and the data set pipeline that fed it.

They come from MindSpore's lineage events (`mindspore`), from TensorBoard's hparams (`hparams`) and from configuration files
beside the event files (`configs`); `description` merges those of one run, `table` lists those of many. Pipelines are in
`datasets`.
"""
