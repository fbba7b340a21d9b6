"""Language models on any server: where they are, how they are asked, and limits of their answers.

The client libraries are extras of the distribution; they are imported by the first request.
"""
