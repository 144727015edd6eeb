"""Large values: histograms, images, tensors, loss landscapes and texts.

Loading a run only locates them. `access` indexes and returns them, `reading` fetches and checks the bytes of one, and one
module per kind decodes the bytes into a class of `values`. Decoded values are kept in a bounded `cache`.
"""
