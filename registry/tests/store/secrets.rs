//! Data keys, and secrets in debug output.

use registry::{DataKey, ErrorKind, OrganizationId, SecretValue};

use crate::fixtures::World;

#[tokio::test]
async fn a_wrapped_key_opens_for_its_organization_and_id_only() {
    let world = World::new().await;
    let key = DataKey::generate();
    let acme = OrganizationId::parse("acme").unwrap();
    let other = OrganizationId::parse("other").unwrap();
    let wrapped = world.keys.wrap(&acme, &key).unwrap();
    assert_eq!(world.keys.unwrap(&acme, key.id(), &wrapped).unwrap().id(), key.id());
    assert_eq!(world.keys.unwrap(&other, key.id(), &wrapped).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(world.keys.unwrap(&acme, "another", &wrapped).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[tokio::test]
async fn secrets_do_not_show_in_debug_output() {
    let world = World::new().await;
    let shown = format!("{:?} {:?} {:?}", SecretValue::new("hunter2".to_owned()), world.keys, DataKey::generate());
    assert!(!shown.contains("hunter2") && shown.contains("[secret]"), "{shown}");
}
