"""What a run recorded beyond scalars: histograms, images, tensors, loss landscapes and texts.

At load each of them is only located. `access` indexes them and hands them out, `reading` fetches the bytes of one and checks
them, and one module per kind turns the bytes into a value of `values`. Decoded values are kept in a bounded `cache`.
"""
