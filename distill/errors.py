"""The one error a user is meant to read."""


class InputError(Exception):
    """Something the user gave cannot be used; the message says what, where and what to do.

    The command line prints the message as one sentence and exits with code 2.
    """
