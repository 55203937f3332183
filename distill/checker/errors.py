"""The errors of the checker."""


class CertificateError(Exception):
    """A statement of the certificate is false."""


class CannotCheckError(CertificateError):
    """The file is no certificate, or the checker cannot read all of it, or it is too large."""


def shown(value: object, length: int = 60) -> str:
    r"""A value of a certificate in a message: on one line, short, without control characters.

    Examples
    --------
    >>> shown("a\nb"), shown("x" * 99, 9)
    ("'a\\nb'", "'xxxx ...")
    """
    text = ascii(value) if not isinstance(value, int) or abs(value) < 10**length else "a huge number"
    return text if len(text) <= length else text[: length - 4] + " ..."
