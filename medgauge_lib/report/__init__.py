"""The report: params files, executed notebooks, and the pages made from them.

The only room that knows papermill, nbclient and nbconvert; each is imported where it is used, since a report
that is unchanged needs none of them.
"""
