"""The error that is shown to the user."""


class InputError(Exception):
    """An input cannot be used. The message names the input and the reason, and suggests what to do.

    The command line prints the message and exits with code 2.
    """
