"""The error that is shown to the user."""


class InputError(Exception):
    """An input cannot be used. The message names the input and the reason, and suggests what to do.

    The command line prints the message and exits with code 2.
    """


class InterruptionError(InputError):
    """The user ended the command; work that goes on after other errors ends as well."""
