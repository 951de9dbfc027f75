//! Objects of a bucket: files of any size, and creation once.

use crate::artifacts::connect;
use crate::bucket::Bucket;

#[tokio::test]
async fn files_of_any_size_are_sent_and_received() {
    let Some(bucket) = Bucket::create() else { return };
    let objects = connect(&bucket.url(), bucket.variables()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    // Empty, one part, and two parts that are received as two ranges.
    for size in [0, 1, 16 << 20, (33 << 20) + 1] {
        let bytes: Vec<u8> =
            (0..size).map(|position: u32| position.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        std::fs::write(&from, &bytes).unwrap();
        objects.upload(&from, "below/a file").await.unwrap();
        assert!(objects.download("below/a file", &to).await.unwrap());
        assert!(std::fs::read(&to).unwrap() == bytes, "{size} bytes differ");
        assert!(objects.download("below/a file", &to).await.is_err(), "no file is replaced");
        std::fs::remove_file(&to).unwrap();
    }
    assert!(!objects.download("absent", &to).await.unwrap());
    assert!(!to.exists());
}

#[tokio::test]
async fn an_object_is_created_once() {
    let Some(bucket) = Bucket::create() else { return };
    let objects = connect(&bucket.url(), bucket.variables()).unwrap();
    let creations = (0..8_u8).map(|number| {
        let objects = objects.clone();
        tokio::spawn(async move { objects.create("once", vec![number].into()).await.unwrap() })
    });
    let mut created = 0;
    for creation in creations.collect::<Vec<_>>() {
        created += u32::from(creation.await.unwrap());
    }
    assert_eq!(created, 1);
    let listed = objects.list("").await.unwrap();
    assert_eq!(listed.iter().map(|entry| (entry.key.as_str(), entry.bytes)).collect::<Vec<_>>(), [("once", 1)]);
    assert_eq!(bucket.keys(), ["some/prefix/once"]);
    // A folder is no prefix of names.
    assert_eq!(objects.list("on").await.unwrap(), []);
    objects.delete("once").await.unwrap();
    objects.delete("once").await.unwrap();
    assert_eq!(objects.get("once").await.unwrap(), None);
    assert!(!objects.copy("once", "twice").await.unwrap());
}
