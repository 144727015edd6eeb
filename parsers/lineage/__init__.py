"""What a run says of itself: settings, data sets, metrics, and the pipeline that fed it.

They come from MindSpore's lineage events (`mindspore`), from TensorBoard's hparams (`hparams`) and from configuration files
beside the event files (`configs`); `description` puts those of one run together, `table` those of many. The pipeline is in
`datasets`.
"""
