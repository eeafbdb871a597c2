//! Builds the fuzz targets on stable Rust and runs each for a number of seconds.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// The flags that let libFuzzer see which code an input reaches; `rustc` also passes them to LLVM on stable.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
    "--cfg=fuzzing",
];

/// The targets, each with the suffixes of its seed files below `testdata`; those in `fuzz/seeds/<target>` are added.
const TARGETS: &[(&str, &[&str])] = &[
    ("yaml", &[".yaml"]),
    ("json", &[".json"]),
    ("engine", &["bad.yaml", "good.yaml"]),
    ("dump", &[]),
    ("capture", &[]),
    ("review", &[]),
    ("rules", &[".yaml"]),
    ("config", &[".envoyfilter.yaml", "config.yaml"]),
    ("lua", &[".lua", "bad.yaml"]),
    ("redact", &["bad.yaml", ".json"]),
];

/// Largest seed, in bytes.
const LARGEST: u64 = 64 << 10;

/// Runs every target, or one, for this many seconds. Fails if a target finds something.
pub(crate) fn run(seconds: &str, only: Option<&str>) -> Result<(), Box<dyn Error>> {
    let seconds: u32 = seconds.parse().map_err(|_| "usage: xtask fuzz SECONDS [TARGET]")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("no repository")?;
    let fuzz = root.join("fuzz");
    let triple = host()?;
    let built = Command::new(env!("CARGO"))
        .args(["build", "--release", "--target", &triple])
        .current_dir(&fuzz)
        .env("RUSTFLAGS", FLAGS.join(" "))
        .status()?;
    if !built.success() {
        return Err("the fuzz targets do not build".into());
    }
    let binary = fuzz.join("target").join(&triple).join("release/kubectl-envoyfilter-fuzz");
    let targets: Vec<_> = TARGETS.iter().filter(|(target, _)| only.is_none_or(|only| only == *target)).collect();
    let mut runs = Vec::new();
    for (target, endings) in targets {
        let corpus = fuzz.join("corpus").join(target);
        let artifacts = fuzz.join("artifacts").join(target);
        fs::create_dir_all(&corpus)?;
        fs::create_dir_all(&artifacts)?;
        let folders = [root.join("testdata"), root.join("src/demo")].into_iter().filter(|_| !endings.is_empty());
        let own = fuzz.join("seeds").join(target);
        let seeds = seed(root, &corpus, endings, folders.collect())?
            + if own.is_dir() { seed(root, &corpus, &[""], vec![own])? } else { 0 };
        if seeds == 0 {
            return Err(format!("{target} has no seeds").into());
        }
        let mut run = Command::new(&binary);
        run.env("FUZZ_TARGET", target)
            .arg(&corpus)
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-dict={}", fuzz.join("dictionary.txt").display()))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-timeout=20", "-rss_limit_mb=2048", "-max_len=65536", "-print_final_stats=1", "-verbosity=0"])
            .stdin(Stdio::null());
        runs.push((*target, run));
    }
    let failed = side_by_side(runs)?;
    if failed.is_empty() { Ok(()) } else { Err(format!("fuzzing found something: {}", failed.join(", ")).into()) }
}

/// Runs as many targets at once as this machine has cores, and prints what each said when it has ended. The targets that failed.
fn side_by_side(runs: Vec<(&'static str, Command)>) -> Result<Vec<&'static str>, Box<dyn Error>> {
    let cores = thread::available_parallelism()?.get();
    let (queue, failed) = (Mutex::new(runs.into_iter()), Mutex::new(Vec::new()));
    let work = || -> Result<(), Box<dyn Error + Send + Sync>> {
        loop {
            let next = queue.lock().map_err(|_| "a run panicked")?.next();
            let Some((target, mut run)) = next else { return Ok(()) };
            let output = run.output()?;
            let mut failed = failed.lock().map_err(|_| "a run panicked")?;
            println!("== {target}\n{}", String::from_utf8_lossy(&output.stderr));
            if !output.status.success() {
                failed.push(target);
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a run panicked")?)
    })
    .map_err(|error| error.to_string())?;
    Ok(failed.into_inner().map_err(|_| "a run panicked")?)
}

/// The triple of this machine: with `--target`, build scripts are not instrumented.
fn host() -> Result<String, Box<dyn Error>> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc tells no host")?;
    Ok(host.to_owned())
}

/// Copies the seeds of a target from these folders, and returns their number.
fn seed(root: &Path, corpus: &Path, endings: &[&str], mut folders: Vec<PathBuf>) -> Result<usize, Box<dyn Error>> {
    let mut copied = 0;
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root)?.to_string_lossy().replace(['/', '\\'], "-");
            let fits = endings.iter().any(|ending| name.ends_with(ending));
            if fits && fs::metadata(&path)?.len() <= LARGEST {
                fs::copy(&path, corpus.join(name))?;
                copied += 1;
            }
        }
    }
    Ok(copied)
}
