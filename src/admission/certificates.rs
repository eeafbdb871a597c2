//! The server's own certificates: an authority, its successor, and a serving certificate, each renewed before it expires.
//!
//! Pure: the current state and the time in, the next state out. Replicas agree on the result through the Secret
//! that holds it ([`super::keeper`]).

use crate::source::ErrorMessage;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Lifetimes of certificates.
#[derive(Clone, Copy, Debug)]
pub struct Lifetimes {
    /// An authority.
    pub authority: Duration,
    /// A serving certificate.
    pub serving: Duration,
    /// How long a new authority is trusted before it signs, and an old one after.
    pub overlap: Duration,
}

/// A certificate and its key, as PEM.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Pair {
    /// The certificate.
    pub cert: String,
    /// The key.
    pub key: String,
    /// When it was made, in seconds of Unix time.
    pub born: u64,
    /// When it expires, in seconds of Unix time.
    pub until: u64,
}

/// An authority that no longer signs and is trusted until a time.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Retired {
    /// The certificate.
    pub cert: String,
    /// When it is no longer trusted, in seconds of Unix time.
    pub gone: u64,
}

/// Everything that is stored.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Store {
    /// The authority that signs.
    pub signer: Pair,
    /// The next authority, already trusted.
    pub next: Option<Pair>,
    /// Former authorities.
    pub old: Vec<Retired>,
    /// The serving certificate.
    pub serving: Pair,
    /// Its names.
    pub names: Vec<String>,
}

/// The clock of the API server may be behind ours.
const BACK: u64 = 300;

impl Store {
    /// The bundle that the API server must trust.
    pub(crate) fn bundle(&self) -> String {
        let all = [Some(&self.signer.cert), self.next.as_ref().map(|next| &next.cert)];
        let all = all.into_iter().flatten().chain(self.old.iter().map(|old| &old.cert));
        let lines = all.flat_map(|cert| [cert.trim_end(), "\n"]);
        lines.collect()
    }
}

/// The next state at a time (seconds of Unix time) for a server with these names; the first is its common name. `trusted`: the
/// API server has the current bundle, so the next authority may sign. Fails when a certificate cannot be created.
pub fn advance(
    store: Option<Store>,
    now: u64,
    names: &[String],
    lifetimes: Lifetimes,
    trusted: bool,
) -> Result<Store, ErrorMessage> {
    let Some(mut store) = store else {
        let signer = authority(now, lifetimes)?;
        let serving = serving(&signer, now, names, lifetimes)?;
        return Ok(Store { signer, next: None, old: Vec::new(), serving, names: names.to_vec() });
    };
    let overlap = lifetimes.overlap.as_secs();
    store.old.retain(|old| old.gone > now);
    match store.next.take() {
        Some(next) if trusted && now >= next.born.saturating_add(overlap) => {
            let old = std::mem::replace(&mut store.signer, next);
            store.old.push(Retired { cert: old.cert, gone: now.saturating_add(overlap) });
            store.serving = serving(&store.signer, now, names, lifetimes)?;
        }
        None if due(&store.signer, now) => store.next = Some(authority(now, lifetimes)?),
        next => store.next = next,
    }
    if due(&store.serving, now) || store.names != names {
        store.serving = serving(&store.signer, now, names, lifetimes)?;
        store.names = names.to_vec();
    }
    Ok(store)
}

/// Whether two thirds of a lifetime have passed.
fn due(pair: &Pair, now: u64) -> bool {
    let life = pair.until.saturating_sub(pair.born);
    now >= pair.born.saturating_add(life / 3 * 2)
}

fn params(now: u64, life: Duration, name: &str) -> (CertificateParams, u64) {
    let until = now.saturating_add(life.as_secs().max(1));
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    let epoch = date_time_ymd(1970, 1, 1);
    params.not_before = epoch + Duration::from_secs(now.saturating_sub(BACK));
    params.not_after = epoch + Duration::from_secs(until);
    (params, until)
}

fn authority(now: u64, lifetimes: Lifetimes) -> Result<Pair, ErrorMessage> {
    let (mut params, until) = params(now, lifetimes.authority, &format!("envoyfilter-admission {now}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let cert = params.self_signed(&key).map_err(|error| error.to_string())?;
    Ok(Pair { cert: cert.pem(), key: key.serialize_pem(), born: now, until })
}

fn serving(signer: &Pair, now: u64, names: &[String], lifetimes: Lifetimes) -> Result<Pair, ErrorMessage> {
    let words = |error: rcgen::Error| error.to_string();
    let common = names.first().map_or("", String::as_str);
    // An X.509 common name has at most 64 characters; clients check the other names.
    let common: String = common.chars().take(64).collect();
    let (mut params, until) = params(now, lifetimes.serving, &common);
    params.subject_alt_names = CertificateParams::new(names.to_vec()).map_err(words)?.subject_alt_names;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let issuer = KeyPair::from_pem(&signer.key).map_err(words)?;
    let issuer = Issuer::from_ca_cert_pem(&signer.cert, issuer).map_err(words)?;
    let key = KeyPair::generate().map_err(words)?;
    let cert = params.signed_by(&key, &issuer).map_err(words)?;
    Ok(Pair { cert: cert.pem(), key: key.serialize_pem(), born: now, until: until.min(signer.until) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVES: Lifetimes = Lifetimes {
        authority: Duration::from_secs(9_000),
        serving: Duration::from_secs(900),
        overlap: Duration::from_secs(100),
    };

    fn names() -> Vec<String> {
        ["hook.ns.svc", "hook.ns.svc.cluster.local"].map(str::to_owned).to_vec()
    }

    fn step(store: &Store, now: u64, trusted: bool) -> Store {
        advance(Some(store.clone()), now, &names(), LIVES, trusted).unwrap()
    }

    #[test]
    fn nothing_changes_while_nothing_is_due() {
        let store = advance(None, 1_000, &names(), LIVES, false).unwrap();
        assert_eq!(step(&store, 1_500, true), store);
        let serving = step(&store, 1_600, true);
        assert!(serving.serving != store.serving && serving.signer == store.signer);
        let renamed = advance(Some(store.clone()), 1_001, &["other.ns.svc".to_owned()], LIVES, true).unwrap();
        assert!(renamed.serving != store.serving);
    }

    #[test]
    fn an_authority_is_trusted_before_it_signs_and_after() {
        let first = advance(None, 0, &names(), LIVES, false).unwrap();
        let announced = step(&first, 6_000, true);
        let next = announced.next.clone().unwrap();
        assert_eq!(announced.signer, first.signer);
        assert!(announced.bundle().contains(first.signer.cert.trim_end()));
        assert!(announced.bundle().contains(next.cert.trim_end()));
        // Neither too early nor before the API server knows it.
        assert_eq!(step(&announced, 6_050, true).signer, first.signer);
        assert_eq!(step(&announced, 6_200, false).signer, first.signer);
        let switched = step(&announced, 6_200, true);
        assert_eq!((&switched.signer, switched.old.len()), (&next, 1));
        assert!(switched.serving != announced.serving);
        assert!(switched.bundle().contains(first.signer.cert.trim_end()));
        let after = step(&switched, 6_300, true);
        assert!(after.old.is_empty() && !after.bundle().contains(first.signer.cert.trim_end()));
    }
}
