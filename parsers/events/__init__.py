"""Event files: the record format that MindSpore and TensorBoard share, and the four kinds of file written in it.

A file is a sequence of records: length (uint64), CRC of the length, data, CRC of the data, all little endian. Each record
holds one protobuf message. `records` frames them, `walk` parses one message, `columns` parses thousands of similar
messages at once, `collect` turns both into blocks, and `reading` combines these for every reader.
"""
