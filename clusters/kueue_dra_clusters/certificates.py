"""Certificates for one control plane: an authority and its servers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_FOR = timedelta(days=365)
"""More than 90 days: Kueue's rotation renews certificates that expire earlier."""

PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority that lives as long as its control plane."""

    def __init__(self, name: str) -> None:
        """Create an authority whose key is RSA in PKCS#1 form, the only form that Kueue's rotation reads."""
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._name = _subject(name)
        usage = x509.KeyUsage(
            digital_signature=True,
            key_encipherment=True,
            key_cert_sign=True,
            content_commitment=False,
            data_encipherment=False,
            key_agreement=False,
            crl_sign=False,
            encipher_only=False,
            decipher_only=False,
        )
        certificate = (
            _certificate(self._name, self._name, self._key, [name])
            .add_extension(
                x509.BasicConstraints(ca=True, path_length=None), critical=True
            )
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.pair = KeyPair(
            certificate=certificate.public_bytes(Encoding.PEM), key=_pem(self._key)
        )

    def vouch_for(self, *hosts: str) -> KeyPair:
        """Issue a server certificate for host names and IP addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _certificate(_subject(hosts[0]), self._name, key, hosts)
            .add_extension(
                x509.BasicConstraints(ca=False, path_length=None), critical=True
            )
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
            )
            .sign(self._key, hashes.SHA256())
        )
        return KeyPair(
            certificate=certificate.public_bytes(Encoding.PEM), key=_pem(key)
        )


def a_signing_key() -> tuple[bytes, bytes]:
    """Make the private and public key with which the API server signs service account tokens."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _pem(key), key.public_key().public_bytes(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: PrivateKey,
    hosts: list[str] | tuple[str, ...],
) -> x509.CertificateBuilder:
    """Start a certificate that is valid since an hour ago, in case clocks differ."""
    begin = datetime.now(UTC) - timedelta(hours=1)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + VALID_FOR)
        .add_extension(
            x509.SubjectAlternativeName([_general_name(host) for host in hosts]),
            critical=False,
        )
    )


def _general_name(host: str) -> x509.GeneralName:
    """Give a host as an IP address if it is one, else as a DNS name."""
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _subject(name: str) -> x509.Name:
    """Name the holder of a certificate."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _pem(key: PrivateKey) -> bytes:
    """Write a private key in the traditional form (PKCS#1 for RSA, SEC 1 for elliptic curves)."""
    return key.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    )
