"""dynlib beside its peers: each file here is run as `python -m benchmarks.NAME`."""
