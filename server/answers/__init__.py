"""Responses: errors, the size limit of a response, and tags around document texts."""
