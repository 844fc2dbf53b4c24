"""The workers of a run: processes of this machine, or of a Dask cluster."""
