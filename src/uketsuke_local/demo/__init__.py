"""``make demo``: every kind of job, from end to end, on a stack of its own that is gone after.

It judges what it shows. Exit 0 means that each job was accepted with a 202, was seen
``running`` more than once, succeeded, and gave the right kind of result.
"""
