"""Makes the GGUF files of a bundle out of published weights.

A publisher's and demo maker's room: the only one of the catalog that may import numpy and gguf.
Never imported by anything that runs on a user's device.
"""
