"""Throw-away certificates are what their readers insist on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509

from kueue_dra_clusters.certificates import Authority, KeyPair


@pytest.fixture(scope="module")
def authority() -> Authority:
    """Have one authority; its key takes a moment to make."""
    return Authority("kueue-ca")


@pytest.fixture(scope="module")
def serving(authority: Authority) -> x509.Certificate:
    """Have a certificate for a service."""
    return parsed(authority.vouch_for("kueue-webhook-service.kueue-system.svc"))


def parsed(pair: KeyPair) -> x509.Certificate:
    """Read a certificate."""
    return x509.load_pem_x509_certificate(pair.certificate)


def test_the_authority_vouches_for_its_servers(authority: Authority, serving: x509.Certificate) -> None:
    """A client that believes the authority believes the server."""
    serving.verify_directly_issued_by(parsed(authority.pair))


def test_the_authority_is_named_in_its_own_certificate(authority: Authority) -> None:
    """Kueue's rotation looks for the authority's name among the alternative names, else it makes its own."""
    names = parsed(authority.pair).extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    assert names.get_values_for_type(x509.DNSName) == ["kueue-ca"]


def test_the_authority_key_is_in_pkcs1_form(authority: Authority) -> None:
    """Kueue's rotation reads no other form."""
    assert authority.pair.key.startswith(b"-----BEGIN RSA PRIVATE KEY-----")


def test_certificates_outlast_the_rotation_horizon(serving: x509.Certificate) -> None:
    """Kueue renews what ends within 90 days."""
    assert serving.not_valid_after_utc > datetime.now(UTC) + timedelta(days=91)


def test_an_address_is_vouched_for_as_an_address(authority: Authority) -> None:
    """Clients that connect to an IP address compare addresses, not names."""
    names = parsed(authority.vouch_for("127.0.0.1")).extensions.get_extension_for_class(x509.SubjectAlternativeName)

    assert [str(name) for name in names.value.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]
