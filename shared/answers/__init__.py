"""Answers to questions by a language model, from passages of documents, with checked citations."""
