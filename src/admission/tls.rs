//! TLS of the listener for reviews: its certificate and, optionally, the authority of its clients.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::{RootCertStore, crypto::ring};
use std::fmt;
use std::sync::Arc;

/// Why these certificates cannot be used for TLS.
#[derive(Debug)]
pub(crate) enum TlsError {
    /// The certificate or its key is not PEM.
    Certificate(rustls::pki_types::pem::Error),
    /// The authority of the clients is not PEM.
    ClientAuthority(rustls::pki_types::pem::Error),
    /// The file of the authority contains no certificate.
    NoClientAuthority,
    /// The certificates do not match.
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

/// Serves with a certificate and its key, as PEM; `clients`: only clients with a certificate of these authorities.
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
    // Unfinished handshakes hold only their socket, and there are few sessions: the API server's.
    config.session_storage = rustls::server::ServerSessionMemoryCache::new(64);
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::{ClientConfig, ClientConnection, ServerConnection};

    type Issuer = rcgen::Issuer<'static, rcgen::KeyPair>;

    fn authority(name: &str) -> (String, Issuer) {
        let mut of = rcgen::CertificateParams::default();
        of.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        of.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().unwrap();
        (of.self_signed(&key).unwrap().pem(), rcgen::Issuer::new(of, key))
    }

    fn signed(issuer: &Issuer) -> (String, String) {
        let key = rcgen::KeyPair::generate().unwrap();
        let of = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (of.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
    }

    /// Whether a server accepts a client that trusts this authority and presents this certificate.
    fn takes(server: &Arc<ServerConfig>, trusted: &str, shown: Option<&(String, String)>) -> bool {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(trusted.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let builder = builder.with_root_certificates(roots);
        let config = match shown {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
                builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
            }
        };
        let mut client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
        let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
        for _ in 0..8 {
            let (mut sent, mut answer) = (Vec::new(), Vec::new());
            while client.wants_write() {
                client.write_tls(&mut sent).unwrap();
            }
            server.read_tls(&mut &sent[..]).unwrap();
            if server.process_new_packets().is_err() {
                return false;
            }
            while server.wants_write() {
                server.write_tls(&mut answer).unwrap();
            }
            client.read_tls(&mut &answer[..]).unwrap();
            if client.process_new_packets().is_err() {
                return false;
            }
        }
        !client.is_handshaking() && !server.is_handshaking()
    }

    #[test]
    fn only_clients_of_the_named_authority_are_taken() {
        let (own, of_api_server, of_others) = (authority("own"), authority("api server"), authority("others"));
        let (cert, key) = signed(&own.1);
        let open = config(&cert, &key, None).unwrap();
        assert!(takes(&open, &own.0, None));
        let closed = config(&cert, &key, Some(&of_api_server.0)).unwrap();
        assert!(takes(&closed, &own.0, Some(&signed(&of_api_server.1))));
        assert!(!takes(&closed, &own.0, None));
        assert!(!takes(&closed, &own.0, Some(&signed(&of_others.1))));
        let said = |clients: &str| config(&cert, &key, Some(clients)).unwrap_err().to_string();
        assert_eq!(said(""), "the client CA file contains no certificate");
        assert!(said("-----BEGIN CERTIFICATE-----\n?").starts_with("cannot read the client CA"), "{}", said("x"));
    }
}
