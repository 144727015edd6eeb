"""Event files: the record format that MindSpore and TensorBoard share, and the four kinds of file written in it.

A file is a sequence of records: length (uint64), CRC of the length, data, CRC of the data, all little endian. The data is
one protobuf message per record. `records` frames them, `walk` reads one message, `columns` reads thousands of alike
messages at once, `collect` turns both into blocks, and `reading` puts these together for every reader.
"""
