//! Which certificates are believed.
//!
//! - a file was named: the server's certificate is one of those in it (so a self-signed one can be pinned), or was
//!   signed by one of them for this host's name;
//! - `trust=any`: every one, as long as the server has its key;
//! - neither: none, since there is no store of roots here to ask.

use crate::{Address, ClientError, Encrypt};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, version,
};
use std::sync::Arc;

/// The client's half of TLS for this address.
pub(crate) fn tls(address: &Address) -> Result<ClientConnection, ClientError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Verifier::new(address, provider.clone())?);
    // Inside TDS 7.x stock servers speak 1.2 at most.
    let versions: &[_] = match address.encrypt {
        Encrypt::Strict => &[&version::TLS13, &version::TLS12],
        _ => &[&version::TLS12],
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    if address.encrypt == Encrypt::Strict {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| ClientError::Tls(format!("{} is no name for a certificate", address.host)))?;
    Ok(ClientConnection::new(Arc::new(config), name)?)
}

#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    pinned: Vec<CertificateDer<'static>>,
    signed: Option<Arc<WebPkiServerVerifier>>,
    any: bool,
}

impl Verifier {
    fn new(address: &Address, provider: Arc<CryptoProvider>) -> Result<Verifier, ClientError> {
        let mut pinned = Vec::new();
        let mut roots = RootCertStore::empty();
        if let Some(file) = &address.certificate {
            let failed = |what: String| ClientError::Tls(format!("{}: {what}", file.display()));
            for certificate in
                CertificateDer::pem_file_iter(file).map_err(|error| failed(error.to_string()))?
            {
                let certificate = certificate.map_err(|error| failed(error.to_string()))?;
                // One that cannot sign others can still be the server's own.
                let _ = roots.add(certificate.clone());
                pinned.push(certificate);
            }
            if pinned.is_empty() {
                return Err(failed("there is no certificate in it".to_owned()));
            }
        } else if !address.trust_any {
            return Err(ClientError::Tls(
                "name the certificate to trust (certificate=FILE in the address), or say trust=any"
                    .to_owned(),
            ));
        }
        let signed = if roots.is_empty() {
            None
        } else {
            let built =
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
            Some(built.build().map_err(|error| ClientError::Tls(error.to_string()))?)
        };
        Ok(Verifier { provider, pinned, signed, any: address.trust_any })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.any || self.pinned.iter().any(|pinned| pinned.as_ref() == own.as_ref()) {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.signed {
            Some(signed) => signed.verify_server_cert(own, others, name, ocsp, now),
            None => Err(Error::InvalidCertificate(CertificateError::UnknownIssuer)),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
