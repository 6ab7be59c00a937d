"""What the paper says of figure 5; its curves are printed without numbers."""

PUBLISHED_REACH = {"LSTM": 13, "NAC": 19, "NAC-summing": 19}
"""The greatest T with which an agent does well. Section 4.5: the one with the NAC did so up to 19,
the conventional one got worse beyond 13. Both forms of ours with a NAC stand beside the former.
"""
