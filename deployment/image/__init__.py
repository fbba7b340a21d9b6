"""The container image as an OCI archive, built without a container engine; `make image`."""
