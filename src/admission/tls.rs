//! What the listener for reviews shows of itself, and whom it takes: its certificate, and optionally the authority of its clients.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::{RootCertStore, crypto::ring};
use std::fmt;
use std::sync::Arc;

/// Why there is no TLS with these certificates.
#[derive(Debug)]
pub(crate) enum TlsError {
    /// The certificate or its key is not PEM.
    Certificate(rustls::pki_types::pem::Error),
    /// The authority of the clients is not PEM.
    ClientAuthority(rustls::pki_types::pem::Error),
    /// There is no certificate in the file of the authority.
    NoClientAuthority,
    /// The certificates do not fit each other.
    Refused(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Certificate(error) => write!(out, "cannot use the certificate: {error}"),
            TlsError::ClientAuthority(error) => write!(out, "cannot read the client CA: {error}"),
            TlsError::NoClientAuthority => out.write_str("the client CA file contains no certificate"),
            TlsError::Refused(reason) => write!(out, "cannot use the certificate: {reason}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// Serves with a certificate and its key, as PEM; `clients`: only to who has a certificate of these authorities.
pub(crate) fn config(cert: &str, key: &str, clients: Option<&str>) -> Result<Arc<ServerConfig>, TlsError> {
    let refused = |error: &dyn fmt::Display| TlsError::Refused(error.to_string());
    let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(cert.as_bytes()).collect();
    let chain = chain.map_err(TlsError::Certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(TlsError::Certificate)?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| refused(&error))?;
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(text) => {
            let mut roots = RootCertStore::empty();
            for authority in CertificateDer::pem_slice_iter(text.as_bytes()) {
                let authority = authority.map_err(TlsError::ClientAuthority)?;
                roots.add(authority).map_err(|error| refused(&error))?;
            }
            if roots.is_empty() {
                return Err(TlsError::NoClientAuthority);
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| refused(&error))?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| refused(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // Handshakes that are not finished hold nothing but their socket, and sessions are few: the API server's.
    config.session_storage = rustls::server::ServerSessionMemoryCache::new(64);
    Ok(Arc::new(config))
}
