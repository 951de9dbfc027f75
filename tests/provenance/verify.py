"""Verifies the attestations of a version with external libraries, without any of Lathe's own code.

usage: verify.py ENVELOPE KEY.pem SBOM
"""

import hashlib
import json
import pathlib
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey


def main(envelope_file: str, key_file: str, sbom_file: str) -> None:
    envelope = Envelope.from_dict(json.loads(pathlib.Path(envelope_file).read_text()))
    keyid = next(iter(envelope.signatures))
    public = load_pem_public_key(pathlib.Path(key_file).read_bytes())
    envelope.verify([SSlibKey.from_crypto(public, keyid=keyid)], 1)

    document = json.loads(envelope.payload)
    Statement.copy_from_pb(_protobuf(document)).validate()

    sbom = pathlib.Path(sbom_file).read_bytes()
    named = document["predicate"]["runDetails"]["byproducts"][0]["digest"]["sha256"]
    assert hashlib.sha256(sbom).hexdigest() == named, "the provenance names another bill of materials"
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sbom.decode())
    assert error is None, error
    print("verified")


def _protobuf(document: dict):
    from google.protobuf.json_format import ParseDict
    from in_toto_attestation.v1 import statement_pb2

    return ParseDict(document, statement_pb2.Statement())


if __name__ == "__main__":
    main(*sys.argv[1:])
