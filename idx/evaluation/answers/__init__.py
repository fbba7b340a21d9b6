"""Evaluation of answers to questions: whether their citations hold, and when they are refused."""
