//! Certificates in files that another program renews.

use super::cluster::{Load, cluster, configure, direct, good, namespace, trusted};
use super::server::{Server, wait};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use std::fs;
use std::time::{Duration, Instant};

/// Another program renews the files one after the other.
#[test]
#[ignore = "needs Go: .ci/run"]
fn certificates_in_files_are_read_again_under_load() {
    namespace("filed");
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    let authorities: Vec<(String, Issuer)> = (0..3).map(|_| authority()).collect();
    let write = |issuer: &Issuer, pause: Duration| {
        let (leaf, secret) = signed(issuer);
        fs::write(&cert, leaf).unwrap();
        std::thread::sleep(pause);
        fs::write(&key, secret).unwrap();
    };
    write(&authorities[0].1, Duration::ZERO);
    let kubeconfig = cluster().kubeconfig("admin", "filed");
    let files = ["--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = Server::start(&kubeconfig, &files);
    let bundle: String = authorities.iter().map(|(pem, _)| pem.as_str()).collect();
    configure("filed", "filed", server.address, "Fail", &STANDARD.encode(bundle));
    trusted("filed");
    let load = Load::start("filed", 4);
    let review = super::review("CREATE", None, Some(&good("a"))).to_string().into_bytes();
    let answers = |trusted: usize| {
        let client = direct(server.address, &authorities[trusted].0);
        let request = Request::post("/validate").body(review.clone().into()).unwrap();
        cluster().runtime.block_on(client.send(request)).is_ok()
    };
    assert!(answers(0) && !answers(1));
    for (number, (_, issuer)) in authorities.iter().enumerate().skip(1) {
        // Certificate and key do not match for longer than the polling interval.
        write(issuer, Duration::from_secs(3));
        let renewed = wait(Duration::from_secs(10), || answers(number).then_some(()));
        assert!(renewed.is_some() && !answers(number - 1), "{number}: {:?}", server.lines());
    }
    println!("{} reviews while the files were renewed twice", load.end());
    assert!(server.terminate());
}

type Issuer = rcgen::Issuer<'static, rcgen::KeyPair>;

/// A new certificate authority each time.
fn authority() -> (String, Issuer) {
    let mut of = rcgen::CertificateParams::default();
    of.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    of.distinguished_name.push(rcgen::DnType::CommonName, key.serialize_pem().len().to_string());
    of.distinguished_name.push(rcgen::DnType::OrganizationName, format!("{:?}", Instant::now()));
    let pem = of.self_signed(&key).unwrap().pem();
    (pem, rcgen::Issuer::new(of, key))
}

/// A certificate of a certificate authority, and its key.
fn signed(issuer: &Issuer) -> (String, String) {
    let of = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    (of.signed_by(&key, issuer).unwrap().pem(), key.serialize_pem())
}
