//! Small files that unpack to a lot of data: rejected with the limit and the option that raises it, using little
//! memory.

use super::Said;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the binary and measures its peak memory, in MiB.
fn watched(folder: &Path, arguments: &[&str]) -> (Said, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .current_dir(folder)
        .env("KUBECONFIG", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let size = line.and_then(|line| line.split_whitespace().next()).and_then(|size| size.parse::<u64>().ok());
        peak = peak.max(size.unwrap_or_default());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = Said { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() };
    assert!(!said.err.contains("panicked"), "{}", said.err);
    println!("{arguments:?}: {} MiB at most", peak >> 10);
    (said, peak >> 10)
}

fn header(name: &str, kind: tar::EntryType, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    // The crate refuses to write `..`.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o600);
    header.set_cksum();
    header
}

/// An archive: headers, each followed by as many bytes as it declares.
fn archive(path: &Path, members: &[(&str, tar::EntryType, u64, u8)]) -> u64 {
    let file = File::create(path).unwrap();
    let gzip = path.extension().is_some_and(|it| it == "gz");
    let mut out: Box<dyn Write> = if gzip {
        Box::new(GzEncoder::new(file, Compression::best()))
    } else {
        Box::new(zstd::Encoder::new(file, 3).unwrap().auto_finish())
    };
    for (name, kind, size, byte) in members {
        out.write_all(header(name, *kind, *size).as_bytes()).unwrap();
        io::copy(&mut io::repeat(*byte).take(size.next_multiple_of(512)), &mut out).unwrap();
    }
    out.write_all(&[0; 1024]).unwrap();
    drop(out);
    fs::metadata(path).unwrap().len()
}

#[test]
#[ignore = "gigabytes: cargo test --test it in_full -- --ignored"]
fn a_name_of_a_gigabyte_is_not_read_in_full() {
    let folder = tempfile::tempdir().unwrap();
    for (archive_name, kind) in [("l.tar.zst", tar::EntryType::GNULongName), ("x.tar.zst", tar::EntryType::XHeader)] {
        let members =
            [("x", kind, 1 << 30, b'a'), ("resources/EnvoyFilter/a/b.yaml", tar::EntryType::Regular, 4, b'\n')];
        let size = archive(&folder.path().join(archive_name), &members);
        assert!(size < 200_000, "{size}");
        let (said, peak) = watched(folder.path(), &["lint", "--capture", archive_name]);
        assert!(said.code >= 2 && said.err.contains("a file name longer than 4 KiB"), "{}", said.err);
        assert!(peak < 64, "{peak} MiB");
    }
}

#[test]
#[ignore = "gigabytes: cargo test --test it in_full -- --ignored"]
fn an_archive_with_gigabytes_of_objects_is_not_held_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c", "d"].map(|name| format!("resources/EnvoyFilter/shop/{name}.yaml"));
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), tar::EntryType::Regular, 300 << 20, b'#')).collect();
    let size = archive(&folder.path().join("objects.tar.zst"), &members);
    assert!(size < 200_000, "{size}");
    let (said, peak) = watched(folder.path(), &["lint", "--capture", "objects.tar.zst"]);
    assert!(said.code >= 2 && said.err.contains("the objects in it are larger than"), "{}", said.err);
    assert!(said.err.contains("--max-input-size"), "{}", said.err);
    assert!(peak < 3 * 100, "{peak} MiB");
}

/// What an archive holds in another form than ordinary files is not silently left out.
#[test]
fn links_and_sparse_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let ordinary = ("resources/EnvoyFilter/shop/a.yaml", tar::EntryType::Regular, 4, b'\n');
    for kind in [tar::EntryType::Link, tar::EntryType::Symlink, tar::EntryType::GNUSparse, tar::EntryType::Char] {
        let other = ("resources/EnvoyFilter/shop/b.yaml", kind, 0, b'x');
        archive(&folder.path().join("c.tar.gz"), &[ordinary, other]);
        let (said, _) = watched(folder.path(), &["lint", "--capture", "c.tar.gz"]);
        assert!(said.code == 3 && said.err.contains("b.yaml is a link, a sparse file or a device"), "{}", said.err);
    }
    // One that no command reads.
    archive(&folder.path().join("c.tar.gz"), &[ordinary, ("notes/b.txt", tar::EntryType::Symlink, 0, b'x')]);
    let (said, _) = watched(folder.path(), &["lint", "--capture", "c.tar.gz"]);
    assert!(!said.err.contains("b.txt"), "{}", said.err);
}

#[test]
fn a_path_that_leads_out_of_the_archive_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let ordinary = ("resources/EnvoyFilter/shop/a.yaml", tar::EntryType::Regular, 4, b'\n');
    let other = ("resources/EnvoyFilter/shop/../../../x.yaml", tar::EntryType::Regular, 4, b'\n');
    archive(&folder.path().join("c.tar.gz"), &[ordinary, other]);
    let (said, _) = watched(folder.path(), &["lint", "--capture", "c.tar.gz"]);
    assert!(said.code == 3 && said.err.contains("x.yaml has `..` in its path"), "{}", said.err);
}

#[test]
fn a_large_description_is_not_held() {
    let folder = tempfile::tempdir().unwrap();
    let members = [
        ("capture.json", tar::EntryType::Regular, 160 << 20, b' '),
        ("resources/EnvoyFilter/a/b.yaml", tar::EntryType::Regular, 4, b'\n'),
    ];
    archive(&folder.path().join("description.tar.zst"), &members);
    let start = std::time::Instant::now();
    let (said, peak) = watched(folder.path(), &["lint", "--capture", "description.tar.zst"]);
    assert!(said.err.contains("capture.json: it is larger than 16 MiB"), "{}", said.err);
    assert!(peak < 128 && start.elapsed().as_secs() < 20, "{peak} MiB, {:?}", start.elapsed());
}

#[test]
#[ignore = "gigabytes: cargo test --test it in_full -- --ignored"]
fn many_short_values_are_not_held_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(File::create(folder.path().join("values.yaml.gz")).unwrap(), Compression::best());
    packed.write_all(b"a: [").unwrap();
    packed.write_all(&b"1,".repeat(8 << 20)).unwrap();
    packed.write_all(b"1]\n").unwrap();
    packed.finish().unwrap();
    assert!(fs::metadata(folder.path().join("values.yaml.gz")).unwrap().len() < 40_000);
    let (said, peak) = watched(folder.path(), &["lint", "values.yaml.gz"]);
    assert!(said.code == 1 || said.code == 3, "{}", said.all());
    assert!(said.all().contains("too many values") && said.all().contains("--max-input-size"), "{}", said.all());
    assert!(peak < 300, "{peak} MiB");
}

#[test]
#[ignore = "gigabytes: cargo test --test it in_full -- --ignored"]
fn a_file_that_unpacks_a_thousandfold_is_refused_in_full() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["zeros.yaml.gz", "zeros.json.gz"] {
        let mut packed = GzEncoder::new(File::create(folder.path().join(name)).unwrap(), Compression::best());
        packed.write_all(b"{\"configs\": [\n").unwrap();
        packed.write_all(&b" ".repeat(200 << 20)).unwrap();
        packed.finish().unwrap();
    }
    let (said, peak) = watched(folder.path(), &["lint", "zeros.yaml.gz"]);
    assert!(said.err.contains("unpacks to more than 250 times its size"), "{}", said.err);
    assert!(said.err.contains("use --max-input-size 1Gi") && peak < 3 * 128, "{peak} MiB: {}", said.err);
    let (said, peak) =
        watched(folder.path(), &["explain", "pod", "x", "--dump", "zeros.json.gz", "-f", "zeros.yaml.gz"]);
    assert!(said.err.contains("cannot read zeros.json.gz: it unpacks to more than"), "{}", said.err);
    assert!(peak < 3 * 128, "{peak} MiB");
    // An option raises the limit for a trusted file.
    let (said, _) = watched(folder.path(), &["lint", "zeros.yaml.gz", "--max-input-size", "300Mi"]);
    assert!(!said.err.contains("250 times"), "{}", said.err);
    let (said, _) = watched(folder.path(), &["lint", "zeros.yaml.gz", "--max-input-size", "100Mi"]);
    assert!(said.err.contains("it is larger than 100 MiB"), "{}", said.err);
    let (said, _) = watched(folder.path(), &["lint", "zeros.yaml.gz", "--max-input-size", "100MB"]);
    assert!(said.code == 2 && said.err.contains("such as 512Mi"), "{}", said.err);
}

/// `capture x.tar` writes a tar, and every format can be read again.
#[test]
fn captures_are_written_in_the_form_that_the_name_says() {
    use kubectl_envoyfilter::load::capture::{Capture, Form, Pack};
    use kubectl_envoyfilter::load::limits::Limits;
    let folder = tempfile::tempdir().unwrap();
    for (name, magic) in [
        ("c.tar", &b"capture.json"[..]),
        ("c.tar.gz", &[0x1f, 0x8b]),
        ("c.tgz", &[0x1f, 0x8b]),
        ("c.tar.zst", &[0x28, 0xb5, 0x2f, 0xfd]),
        ("c", b""),
    ] {
        let path = folder.path().join(name);
        let mut pack = Pack::create(&path, Form::of(&path).unwrap()).unwrap();
        pack.add(&["capture.json"], b"{\"kind\": \"Capture\"}").unwrap();
        let filter =
            b"apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: a, namespace: shop}\n";
        pack.add(&["resources", "EnvoyFilter", "shop", &format!("{}.yaml", "n".repeat(150))], filter).unwrap();
        pack.finish().unwrap();
        if name == "c" {
            assert!(path.is_dir());
        } else {
            assert!(fs::read(&path).unwrap().starts_with(magic), "{name}");
        }
        let (capture, loaded) = Capture::open(&path, Limits::default(), &Default::default(), false);
        assert_eq!(capture.unwrap().description["kind"], "Capture");
        assert_eq!(loaded.inventory.envoy_filters.len(), 1, "{name}");
        assert!(Pack::create(&path, Form::of(&path).unwrap()).is_err(), "{name} is overwritten");
    }
}
