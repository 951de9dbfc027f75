"""Stands in for the native module of `ssl`.

Contexts can be made and configured as usual, since HTTP libraries do so before each request. The settings have no
effect: the host sends the requests, and verifies certificates against its own.
"""

import os

from lathe_runtime.unavailable import refusal, refusing

_REASON = "a tool has no TLS connections of its own: requests go through the host, which makes and verifies them"

OPENSSL_VERSION = "OpenSSL 3.0.0 (not included: the host of the sandbox makes TLS connections)"
OPENSSL_VERSION_INFO = _OPENSSL_API_VERSION = (3, 0, 0, 0, 0)
OPENSSL_VERSION_NUMBER = 0x30000000
_DEFAULT_CIPHERS = "DEFAULT"

HAS_SNI = HAS_ECDH = HAS_ALPN = HAS_TLSv1_2 = HAS_TLSv1_3 = True
HAS_NPN = HAS_SSLv2 = HAS_SSLv3 = HAS_TLSv1 = HAS_TLSv1_1 = HAS_PSK = HAS_PHA = False

# The values of OpenSSL 3.
PROTOCOL_SSLv3, PROTOCOL_TLS, PROTOCOL_TLSv1, PROTOCOL_TLSv1_1, PROTOCOL_TLSv1_2 = range(1, 6)
PROTOCOL_SSLv23, PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = PROTOCOL_TLS, 16, 17
PROTO_MINIMUM_SUPPORTED, PROTO_MAXIMUM_SUPPORTED = -2, -1
PROTO_SSLv3, PROTO_TLSv1, PROTO_TLSv1_1, PROTO_TLSv1_2, PROTO_TLSv1_3 = range(0x300, 0x305)
CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = range(3)
VERIFY_DEFAULT, VERIFY_CRL_CHECK_LEAF, VERIFY_CRL_CHECK_CHAIN = 0, 4, 12
VERIFY_X509_STRICT, VERIFY_ALLOW_PROXY_CERTS = 0x20, 0x40
VERIFY_X509_TRUSTED_FIRST, VERIFY_X509_PARTIAL_CHAIN = 0x8000, 0x80000
HOSTFLAG_ALWAYS_CHECK_SUBJECT, HOSTFLAG_NO_WILDCARDS, HOSTFLAG_NO_PARTIAL_WILDCARDS = 1, 2, 4
HOSTFLAG_MULTI_LABEL_WILDCARDS, HOSTFLAG_SINGLE_LABEL_SUBDOMAINS, HOSTFLAG_NEVER_CHECK_SUBJECT = 8, 16, 32
ENCODING_PEM, ENCODING_DER = 1, 2
OP_ALL, OP_NO_SSLv2, OP_NO_SSLv3 = 0x80000050, 0, 0x2000000
OP_NO_TLSv1, OP_NO_TLSv1_1, OP_NO_TLSv1_2, OP_NO_TLSv1_3 = 0x4000000, 0x10000000, 0x8000000, 0x20000000
OP_CIPHER_SERVER_PREFERENCE, OP_SINGLE_DH_USE, OP_SINGLE_ECDH_USE = 0x400000, 0, 0
OP_NO_TICKET, OP_NO_COMPRESSION, OP_NO_RENEGOTIATION = 0x4000, 0x20000, 0x40000000
OP_LEGACY_SERVER_CONNECT, OP_ENABLE_MIDDLEBOX_COMPAT, OP_IGNORE_UNEXPECTED_EOF = 4, 0x100000, 0x80
OP_ENABLE_KTLS = 8
SSL_ERROR_NONE, SSL_ERROR_SSL, SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE = range(4)
SSL_ERROR_WANT_X509_LOOKUP, SSL_ERROR_SYSCALL, SSL_ERROR_ZERO_RETURN, SSL_ERROR_WANT_CONNECT = range(4, 8)
SSL_ERROR_EOF, SSL_ERROR_INVALID_ERROR_CODE = 8, 10
ALERT_DESCRIPTION_CLOSE_NOTIFY, ALERT_DESCRIPTION_HANDSHAKE_FAILURE = 0, 40
ALERT_DESCRIPTION_BAD_CERTIFICATE, ALERT_DESCRIPTION_UNKNOWN_CA = 42, 48
ALERT_DESCRIPTION_INTERNAL_ERROR, ALERT_DESCRIPTION_UNRECOGNIZED_NAME = 80, 112


class SSLError(OSError):
    library = reason = None


class SSLZeroReturnError(SSLError):
    pass


class SSLWantReadError(SSLError):
    pass


class SSLWantWriteError(SSLError):
    pass


class SSLSyscallError(SSLError):
    pass


class SSLEOFError(SSLError):
    pass


class SSLCertVerificationError(SSLError, ValueError):
    verify_code, verify_message = 0, ""


MemoryBIO = refusing("MemoryBIO", _REASON)
SSLSession = refusing("SSLSession", _REASON)
Certificate = refusing("Certificate", _REASON)


def _kept(name, default):
    """A property that keeps its value. `ssl` reads and sets it through `super()`."""
    return property(
        lambda self: self._settings.get(name, default),
        lambda self, value: self._settings.__setitem__(name, value),
    )


class _SSLContext:
    def __new__(cls, protocol):
        self = object.__new__(cls)
        self._settings = {"protocol": protocol}
        if protocol == PROTOCOL_TLS_CLIENT:
            self._settings |= {"verify_mode": CERT_REQUIRED, "check_hostname": True}
        return self

    protocol = property(lambda self: self._settings["protocol"])
    options = _kept("options", OP_ALL | OP_NO_COMPRESSION)
    verify_flags = _kept("verify_flags", VERIFY_X509_TRUSTED_FIRST)
    minimum_version = _kept("minimum_version", PROTO_TLSv1_2)
    maximum_version = _kept("maximum_version", PROTO_MAXIMUM_SUPPORTED)
    keylog_filename = _kept("keylog_filename", None)
    post_handshake_auth = _kept("post_handshake_auth", False)
    sni_callback = _kept("sni_callback", None)
    security_level = _kept("security_level", 1)
    num_tickets = _kept("num_tickets", 2)
    _host_flags = _kept("_host_flags", HOSTFLAG_NO_PARTIAL_WILDCARDS)
    _msg_callback = _kept("_msg_callback", None)

    @property
    def check_hostname(self):
        return self._settings.get("check_hostname", False)

    @check_hostname.setter
    def check_hostname(self, value):
        self._settings["check_hostname"] = bool(value)
        if value and self.verify_mode == CERT_NONE:
            self._settings["verify_mode"] = CERT_REQUIRED

    @property
    def verify_mode(self):
        return self._settings.get("verify_mode", CERT_NONE)

    @verify_mode.setter
    def verify_mode(self, value):
        if value == CERT_NONE and self.check_hostname:
            raise ValueError("Cannot set verify_mode to CERT_NONE when check_hostname is enabled.")
        self._settings["verify_mode"] = value

    def _nothing(self, *args, **kwargs):
        """Accepts a setting without effect."""

    set_ciphers = set_default_verify_paths = load_verify_locations = load_cert_chain = _nothing
    load_dh_params = set_ecdh_curve = _set_alpn_protocols = _nothing

    def get_ciphers(self):
        return []

    def get_ca_certs(self, binary_form=False):
        return []

    def cert_store_stats(self):
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    def session_stats(self):
        return {}

    _wrap_socket = _wrap_bio = refusal(_REASON)


def get_default_verify_paths():
    return ("SSL_CERT_FILE", "", "SSL_CERT_DIR", "")


_OBJECTS = {
    129: (129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"),
    130: (130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"),
}


def nid2obj(nid):
    try:
        return _OBJECTS[nid]
    except KeyError:
        raise ValueError(f"unknown NID {nid}") from None


def txt2obj(txt, name=False):
    for found in _OBJECTS.values():
        if txt == found[3] or (name and txt in found[1:3]):
            return found
    raise ValueError("unknown object")


def RAND_status():
    return True


def RAND_add(string, entropy):
    """The host is the source of randomness."""


def RAND_bytes(num):
    return os.urandom(num)


_test_decode_cert = refusal(_REASON)
