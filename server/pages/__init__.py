"""The pages of the server over HTTP, for people with a browser.

They work without JavaScript, but for answers of a language model.
"""
