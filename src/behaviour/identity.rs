//! Certificates, SPIFFE identities and tokens of the sandbox: a separate certificate authority for each run.

use super::Error;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, PublicKeyData, SanType,
    SigningKey,
};
use serde_json::{Value, json};

/// A certificate authority that Envoy trusts instead of the mesh's.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    token_key: KeyPair,
}

/// A certificate with its key.
#[derive(Clone)]
pub(super) struct Pair {
    /// The certificate and that of its authority, PEM.
    pub(super) chain: String,
    /// The key, PEM.
    pub(super) key: String,
    /// The certificate, DER.
    pub(super) der: Vec<u8>,
    /// The key, PKCS #8 DER.
    pub(super) key_der: Vec<u8>,
}

fn trouble(error: &rcgen::Error) -> Error {
    Error::Internal(format!("cannot make a certificate: {error}"))
}

impl Authority {
    pub(super) fn new() -> Result<Authority, Error> {
        let key = KeyPair::generate().map_err(|error| trouble(&error))?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "kubectl envoyfilter sandbox");
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        let pem = params.self_signed(&key).map_err(|error| trouble(&error))?.pem();
        let token_key = KeyPair::generate().map_err(|error| trouble(&error))?;
        Ok(Authority { issuer: Issuer::new(params, key), pem, token_key })
    }

    /// Its certificate, PEM.
    pub(super) fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for these names: URIs (with `://`) and DNS names. Names that are invalid in a certificate are left
    /// out.
    pub(super) fn certificate<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Pair, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "sandbox");
        for name in names {
            let Ok(text) = Ia5String::try_from(name) else { continue };
            let san = if name.contains("://") { SanType::URI(text) } else { SanType::DnsName(text) };
            if !params.subject_alt_names.contains(&san) {
                params.subject_alt_names.push(san);
            }
        }
        let key = KeyPair::generate().map_err(|error| trouble(&error))?;
        let cert = params.signed_by(&key, &self.issuer).map_err(|error| trouble(&error))?;
        Ok(Pair {
            chain: format!("{}{}", cert.pem(), self.pem),
            key: key.serialize_pem(),
            der: cert.der().to_vec(),
            key_der: key.serialize_der(),
        })
    }

    /// The key that signs tokens, as a JSON Web Key Set.
    pub(super) fn jwks(&self) -> String {
        let point = self.token_key.der_bytes();
        // An uncompressed point: 4, x, y.
        let (x, y) = (point.get(1..33).unwrap_or_default(), point.get(33..65).unwrap_or_default());
        let text = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        json!({"keys": [{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": KEY_ID, "x": text(x), "y": text(y)}]})
            .to_string()
    }

    /// A token with these claims, signed with ES256.
    pub(super) fn token(&self, claims: &Value) -> Result<String, Error> {
        let text = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let head = json!({"alg": "ES256", "typ": "JWT", "kid": KEY_ID});
        let signed = format!("{}.{}", text(&head), text(claims));
        let signature = self.token_key.sign(signed.as_bytes()).map_err(|error| trouble(&error))?;
        let raw = plain_signature(&signature)
            .ok_or_else(|| Error::Internal("cannot sign a token: the signature is not DER".to_owned()))?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(raw)))
    }
}

/// Name of the key of tokens.
const KEY_ID: &str = "sandbox";

/// `SEQUENCE { INTEGER r, INTEGER s }` as r and s of 32 bytes each (RFC 7518, 3.4).
fn plain_signature(der: &[u8]) -> Option<Vec<u8>> {
    let (&0x30, rest) = der.split_first()? else { return None };
    let mut rest = rest.get(1..)?;
    let mut out = Vec::with_capacity(64);
    for _ in 0..2 {
        let (&0x02, after) = rest.split_first()? else { return None };
        let (&length, after) = after.split_first()?;
        let (number, after) = after.split_at_checked(usize::from(length))?;
        let number = &number[number.iter().take_while(|&&byte| byte == 0).count()..];
        out.resize(out.len() + 32usize.checked_sub(number.len())?, 0);
        out.extend_from_slice(number);
        rest = after;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_two_numbers_of_32_bytes() {
        let mut der = vec![0x30, 38, 0x02, 2, 0, 0x81, 0x02, 32];
        der.extend([7u8; 32]);
        let plain = plain_signature(&der).unwrap();
        assert_eq!((plain.len(), plain[31], plain[30], plain[32]), (64, 0x81, 0, 7));
        assert_eq!(plain_signature(&der[..20]), None);
    }

    #[test]
    fn tokens_have_three_parts_and_the_key_that_is_served() {
        let authority = Authority::new().unwrap();
        let token = authority.token(&json!({"iss": "me"})).unwrap();
        assert_eq!(token.split('.').count(), 3);
        let keys: Value = serde_json::from_str(&authority.jwks()).unwrap();
        assert_eq!(keys["keys"][0]["x"].as_str().unwrap().len(), 43);
        assert!(authority.certificate(["spiffe://td/ns/a/sa/b", "a.example", "ä"]).unwrap().chain.len() > 100);
    }
}
