-- What is said, and signed, about how versions came to be; and the public halves of the keys, which stay when a key goes.

CREATE TABLE signing_keys (
    organization TEXT NOT NULL REFERENCES organizations (organization),
    public_key   BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, public_key)
) STRICT;

CREATE TABLE attestations (
    organization TEXT NOT NULL,
    version_id   TEXT NOT NULL,
    public_key   BLOB NOT NULL,
    provenance   TEXT NOT NULL,
    sbom         TEXT NOT NULL,
    PRIMARY KEY (organization, version_id),
    FOREIGN KEY (organization, version_id) REFERENCES versions (organization, version_id),
    FOREIGN KEY (organization, public_key) REFERENCES signing_keys (organization, public_key)
) STRICT;

CREATE TRIGGER attestations_never_rewritten BEFORE UPDATE ON attestations
BEGIN SELECT RAISE(ABORT, 'an attestation is never rewritten'); END;

CREATE TRIGGER attestations_never_deleted BEFORE DELETE ON attestations
BEGIN SELECT RAISE(ABORT, 'an attestation is never deleted'); END;

CREATE TRIGGER signing_keys_never_rewritten BEFORE UPDATE ON signing_keys
BEGIN SELECT RAISE(ABORT, 'a signing key is never rewritten'); END;

CREATE TRIGGER signing_keys_never_deleted BEFORE DELETE ON signing_keys
BEGIN SELECT RAISE(ABORT, 'a signing key is never deleted'); END;
