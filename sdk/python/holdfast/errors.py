"""The exceptions of this package."""


class HoldfastError(Exception):
    """Something failed; the other exceptions are special cases."""


class RpcError(HoldfastError):
    """The server has answered with an error. `code` is one of the constants of holdfast.protocol, and `kind` tells some errors of one
    code apart: "noSuchProgram" or "cannotExecute"."""

    def __init__(self, code: int, message: str, kind: str | None = None):
        super().__init__(message)
        self.code, self.message, self.kind = code, message, kind


class ConnectionRefused(HoldfastError):
    """The server does not accept this client, or is none: trying again would not help."""


class Disconnected(HoldfastError):
    """There is no connection to the server any more. Of a call that was under way nobody knows whether the server has done it."""
