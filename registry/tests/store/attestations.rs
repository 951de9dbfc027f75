//! Attestations: stored with their version, with the key that signed them.

use registry::{Attestation, BumpKind, DataKey, Error, PublicKey, Version};

use crate::fixtures::{World, new_version};

fn attestation(version: Version, signed_by: PublicKey) -> Attestation {
    Attestation { version, signed_by, provenance: "{\"payload\":\"…\"}".into(), sbom: "{}".into() }
}

#[tokio::test]
async fn an_attestation_is_stored_with_its_version_and_key() {
    let world = World::new().await;
    let (acme, other) = (world.organization("acme").await, world.organization("other").await);
    let tool = world.tool(&acme, "lookup").await;
    let key = world.store.versions().signing_key(&acme.organization).await.unwrap().public_key().unwrap();
    assert_eq!(world.store.versions().signing_keys(&acme.organization).await.unwrap(), []);
    for version in [Version::FIRST, Version::new(1, 1, 0)] {
        let lease = world.lease(&acme, &tool).await;
        let said = attestation(version, key);
        let new = registry::NewVersion { attestation: said.clone(), ..new_version(BumpKind::Minor) };
        let published = world.store.versions().publish_version(&lease, new).await.unwrap();
        assert_eq!(world.store.versions().attestation(&published).await.unwrap(), Some(said));
    }
    let keys = world.store.versions().signing_keys(&acme.organization).await.unwrap();
    assert_eq!(keys.iter().map(|used| used.key).collect::<Vec<_>>(), [key]);
    assert_eq!(world.store.versions().signing_keys(&other.organization).await.unwrap(), []);
    let others = world.store.versions().signing_key(&other.organization).await.unwrap().public_key().unwrap();
    assert_ne!(others, key, "each organisation has its own");
}

#[tokio::test]
async fn an_attestation_of_another_number_publishes_no_version() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let tool = world.tool(&acme, "lookup").await;
    let key = DataKey::generate().signing_key().unwrap().public_key().unwrap();
    let lease = world.lease(&acme, &tool).await;
    let said = attestation(Version::new(7, 0, 0), key);
    let new = registry::NewVersion { attestation: said, ..new_version(BumpKind::Minor) };
    let refused = world.store.versions().publish_version(&lease, new).await.unwrap_err();
    assert!(matches!(refused, Error::LeaseLost), "{refused}");
    assert_eq!(world.store.versions().highest_version(&acme.organization, &tool).await.unwrap(), None);
    assert_eq!(world.store.versions().signing_keys(&acme.organization).await.unwrap(), []);
}
