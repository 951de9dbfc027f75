//! Connections to Postgres over TLS, with a certificate of a test's own authority.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use registry::{Config, DatabaseLocation, SecretValue};
use tempfile::TempDir;

use crate::cluster::{Cluster, own};
use crate::database::is_server;
use crate::fixtures::World;

/// An authority, and a certificate for the address `127.0.0.1`, made by OpenSSL.
struct Certificates(TempDir);

impl Certificates {
    fn make() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        made.openssl("req -x509 -newkey rsa:2048 -noenc -days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
        made.openssl("req -x509 -newkey rsa:2048 -noenc -days 2 -subj /CN=other -keyout other.key -out other.pem");
        made.openssl("req -newkey rsa:2048 -noenc -subj /CN=database -keyout server.key -out server.csr");
        std::fs::write(made.0.path().join("names"), "subjectAltName=IP:127.0.0.1\n").unwrap();
        made.openssl("x509 -req -in server.csr -CA ca.pem -CAkey ca.key -days 2 -extfile names -out server.pem");
        made
    }

    fn openssl(&self, arguments: &str) {
        let made = Command::new("openssl").args(arguments.split(' ')).current_dir(self.0.path()).output();
        let made = made.expect("openssl, which Debian's postgresql needs as well");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }

    /// Lets a server use the certificate.
    fn install(&self, data: &Path) {
        for name in ["server.key", "server.pem"] {
            let copy = data.join(name);
            fs::copy(self.0.path().join(name), &copy).unwrap();
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).unwrap();
            own(&copy);
        }
        let mut settings = fs::File::options().append(true).open(data.join("postgresql.conf")).unwrap();
        settings.write_all(b"ssl = on\nssl_cert_file = 'server.pem'\n").unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }
}

/// Returns why no store opens.
async fn refused(url: String) -> String {
    let database = DatabaseLocation::Url(SecretValue::new(url));
    let opened = World::in_database(TempDir::new().unwrap(), Config::for_tests(), database).await;
    opened.err().expect("the connection is refused").to_string()
}

#[tokio::test]
async fn a_server_is_verified_by_its_certificate_and_its_name() {
    if is_server() {
        return;
    }
    let certificates = Certificates::make();
    let Some(cluster) = Cluster::start_with(|data| certificates.install(data)) else { return };
    let url = cluster.url("postgres");
    let with = |ca: &str| format!("{url}?sslmode=verify-full&sslrootcert={}", certificates.path(ca));

    let database = DatabaseLocation::Url(SecretValue::new(with("ca.pem")));
    let world = World::in_database(TempDir::new().unwrap(), Config::for_tests(), database).await.unwrap();
    let acme = world.organization("acme").await;
    world.answered(&acme, "encrypted").await;

    for (url, words) in [
        (with("other.pem"), "UnknownIssuer"),
        (with("ca.pem").replace("127.0.0.1", "localhost"), "not valid for name"),
        (with("missing.pem"), "No such file"),
    ] {
        let reason = refused(url).await;
        assert!(reason.contains(words), "{reason}");
        println!("{reason}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_if_it_is_required() {
    if is_server() {
        return;
    }
    let Some(cluster) = Cluster::start() else { return };
    for mode in ["require", "verify-ca", "verify-full"] {
        let reason = refused(format!("{}?sslmode={mode}", cluster.url("postgres"))).await;
        assert!(reason.contains("does not support TLS"), "{reason}");
    }
}
