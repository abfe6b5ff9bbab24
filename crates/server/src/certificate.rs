//! The server's certificate: the user's own, or one made at the first start.
//!
//! A certificate made here is self-signed for this host's name, `localhost` and the loopback addresses, holds an
//! ECDSA key on P-256 and is valid for ten years. It is no authority: a client that is to trust it is given the file
//! `server-certificate.pem` itself. Its key lies beside it, readable by its owner only.
//!
//! Promise: what is returned is readable, matches its key and is valid today; anything else is an error that names the
//! file and says what to do.

use crate::validity::Validity;
use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::version::{TLS12, TLS13};
use std::fmt;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Names of the files in the data folder.
const CERTIFICATE_FILE: &str = "server-certificate.pem";
const KEY_FILE: &str = "server-key.pem";
const YEARS_VALID: i64 = 10;
const DAY_S: i64 = 86_400;

/// Where the certificate comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Two files of the user's, PEM: the chain from the leaf up, and the key.
    Files { certificate: PathBuf, key: PathBuf },
    /// The data folder, made there if it is not.
    Folder(PathBuf),
}

/// TLS as this server speaks it.
#[derive(Clone)]
pub(crate) struct Tls {
    /// For TDS 7.x, where the handshake travels in PRELOGIN packets. TLS 1.2 only: stock drivers break on 1.3 there,
    /// because its server speaks again after the handshake.
    pub within: Arc<ServerConfig>,
    /// For TDS 8.0, where TLS comes first.
    pub strict: Arc<ServerConfig>,
    /// SHA-256 of the leaf, in hexadecimal.
    pub fingerprint: String,
    /// Where the leaf was read from.
    pub path: PathBuf,
    /// Whether it was made just now.
    pub made: bool,
}

/// Why there is no certificate to serve with.
#[derive(Debug)]
pub struct CertificateError {
    path: PathBuf,
    what: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "The certificate cannot be used: {}: {}.", self.path.display(), self.what)
    }
}

impl std::error::Error for CertificateError {}

fn refuse(path: &Path, what: impl fmt::Display) -> CertificateError {
    CertificateError { path: path.to_owned(), what: what.to_string() }
}

/// Reads the certificate, or makes it. `unix_s` is now.
pub(crate) fn load(origin: &Origin, unix_s: i64) -> Result<Tls, CertificateError> {
    match origin {
        Origin::Files { certificate, key } => read(certificate, key, unix_s),
        Origin::Folder(folder) => {
            let (certificate, key) = (folder.join(CERTIFICATE_FILE), folder.join(KEY_FILE));
            let there = |path: &Path| path.try_exists().map_err(|error| refuse(path, error));
            let made = match (there(&certificate)?, there(&key)?) {
                (true, true) => false,
                (true, false) => {
                    return Err(refuse(
                        &key,
                        format!(
                            "the key is missing; delete {CERTIFICATE_FILE} to have both made anew"
                        ),
                    ));
                }
                // A start that was cut short has left the key alone.
                (false, _) => {
                    make(&certificate, &key, unix_s)?;
                    true
                }
            };
            Ok(Tls { made, ..read(&certificate, &key, unix_s)? })
        }
    }
}

fn read(certificate: &Path, key: &Path, unix_s: i64) -> Result<Tls, CertificateError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| refuse(certificate, error))?;
    let Some(leaf) = chain.first() else {
        return Err(refuse(certificate, "there is no certificate in it (PEM is expected)"));
    };
    let validity =
        Validity::of(leaf).ok_or_else(|| refuse(certificate, "it is not an X.509 certificate"))?;
    if unix_s > validity.until_s {
        return Err(refuse(
            certificate,
            "it has expired; give a new one, or delete a self-made one",
        ));
    }
    if unix_s < validity.from_s {
        return Err(refuse(certificate, "it is not valid yet; is this machine's clock right?"));
    }
    let fingerprint = stdx::hex(digest(&SHA256, leaf).as_ref());
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| refuse(key, error))?;
    let config = |versions: &[&'static rustls::SupportedProtocolVersion]| {
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(versions)
            .map_err(|error| refuse(certificate, error))?
            .with_no_client_auth()
            .with_single_cert(chain.clone(), secret.clone_key())
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    refuse(key, "it is not this certificate's key")
                }
                error => refuse(certificate, error),
            })?;
        // Connections are pooled by their clients: resuming saves little, and would keep state here for each.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok::<_, CertificateError>(config)
    };
    let within = config(&[&TLS12])?;
    let mut strict = config(&[&TLS13, &TLS12])?;
    strict.alpn_protocols = vec![b"tds/8.0".to_vec()];
    Ok(Tls {
        within: Arc::new(within),
        strict: Arc::new(strict),
        fingerprint,
        path: certificate.to_owned(),
        made: false,
    })
}

fn make(certificate: &Path, key: &Path, unix_s: i64) -> Result<(), CertificateError> {
    let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    if !host.is_empty() && host.chars().all(is_name) && !names.iter().any(|n| n == host) {
        names.insert(0, host.to_owned());
    }
    let common_name = names[0].clone();
    let made = (|| {
        let mut params = rcgen::CertificateParams::new(names)?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, common_name);
        params.distinguished_name.push(rcgen::DnType::OrganizationName, "Millrace self-signed");
        params.key_usages = vec![rcgen::KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        // A clock behind ours by a day still accepts it.
        let date = |unix_s: i64| {
            rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(unix_s.max(0) as u64)
        };
        params.not_before = date(unix_s - DAY_S);
        params.not_after = date(unix_s + YEARS_VALID * 365 * DAY_S);
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
        Ok::<_, rcgen::Error>((params.self_signed(&pair)?.pem(), pair.serialize_pem()))
    })();
    let (public, secret) = made.map_err(|error| refuse(certificate, error))?;
    // The key first: a certificate is there only when its key is.
    write(key, &secret, 0o600).map_err(|error| refuse(key, error))?;
    write(certificate, &public, 0o644).map_err(|error| refuse(certificate, error))
}

/// Writes a file whole, or leaves none under its name.
fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(&unfinished)?;
    // One that was left behind keeps the mode it has.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    // Clients that trust this certificate meet it again after a loss of power.
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => fs::File::open(folder)?.sync_all(),
        _ => fs::File::open(".")?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::{CERTIFICATE_FILE, DAY_S, KEY_FILE, Origin, YEARS_VALID, load};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    const NOW: i64 = 1_790_000_000;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("millrace-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        path
    }

    #[test]
    fn one_is_made_once_and_its_key_is_its_owners() {
        let folder = folder("certificate");
        let origin = Origin::Folder(folder.clone());
        let first = load(&origin, NOW).expect("made");
        let again = load(&origin, NOW).expect("read");
        assert!(first.made && !again.made);
        assert_eq!(first.fingerprint, again.fingerprint);
        assert_eq!(first.fingerprint.len(), 64);
        let mode = fs::metadata(folder.join(KEY_FILE)).expect("the key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let _ = fs::remove_dir_all(folder);
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_file() {
        let folder = folder("bad-certificate");
        let origin = Origin::Folder(folder.clone());
        load(&origin, NOW).expect("made");
        let late = NOW + (YEARS_VALID * 365 + 1) * DAY_S;
        let expired = load(&origin, late).err().expect("expired").to_string();
        assert!(expired.contains(CERTIFICATE_FILE) && expired.contains("expired"), "{expired}");
        let early = load(&origin, NOW - 2 * DAY_S).err().expect("too early").to_string();
        assert!(early.contains("not valid yet"), "{early}");

        let other = self::folder("other-certificate");
        load(&Origin::Folder(other.clone()), NOW).expect("made");
        let mixed =
            Origin::Files { certificate: folder.join(CERTIFICATE_FILE), key: other.join(KEY_FILE) };
        let mixed = load(&mixed, NOW).err().expect("two pairs mixed").to_string();
        assert!(mixed.contains("not this certificate's key"), "{mixed}");

        fs::write(folder.join(CERTIFICATE_FILE), "no PEM here").expect("written");
        assert!(load(&origin, NOW).is_err());
        fs::remove_file(folder.join(KEY_FILE)).expect("removed");
        let missing = load(&origin, NOW).err().expect("no key").to_string();
        assert!(missing.contains(KEY_FILE), "{missing}");
        let nowhere =
            Origin::Files { certificate: folder.join("a.pem"), key: folder.join("b.pem") };
        assert!(load(&nowhere, NOW).err().expect("no file").to_string().contains("a.pem"));
        for path in [folder, other] {
            let _ = fs::remove_dir_all(path);
        }
    }
}
