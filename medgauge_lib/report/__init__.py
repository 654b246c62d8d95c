"""The report: params files, executed notebooks, and the pages made from them.

The only room that knows papermill, nbclient and nbconvert. Notebooks import ``params.locate`` from it, so
that importing this package costs nothing: every library it drives is imported where it is used.
"""
