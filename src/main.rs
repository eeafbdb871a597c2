//! The `kubectl-envoyfilter` command: arguments in, exit code out.

#![allow(clippy::disallowed_methods, reason = "the process begins here")]

use clap::Parser;
use kubectl_envoyfilter::cli::{Cli, ColorChoice, Exit, Surroundings, advice, arguments};
use kubectl_envoyfilter::process::leash;
use kubectl_envoyfilter::report::style::Terminal;
use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

/// Parsing creates many small values: the allocators of glibc and musl would take a fifth of the time or more.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = leash::entered(&mut std::env::args_os().skip(1)) {
        return code.into();
    }
    leash::held_by_this_program();
    let given = arguments(std::env::args_os());
    let cli = match Cli::try_parse_from(&given) {
        Ok(cli) => cli.given(given),
        Err(error) => return not_run(&error, &given),
    };
    let around = Surroundings {
        out: terminal(&cli, &io::stdout()),
        err: terminal(&cli, &io::stderr()),
        progress: io::stderr().is_terminal(),
    };
    let (mut out, mut err) = (BufWriter::with_capacity(1 << 16, io::stdout().lock()), io::stderr().lock());
    match cli.run(around, &mut out, &mut err).and_then(|exit| out.flush().map(|()| exit)) {
        Ok(exit) => exit.code().into(),
        // The reader stopped early (`| head`), as it may.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // Dropping the buffer would retry the write.
            let _ = out.into_parts();
            Exit::Ok.code().into()
        }
        Err(error) => {
            let _ = writeln!(err, "error: cannot write the output: {error}");
            Exit::Partial.code().into()
        }
    }
}

/// Prints what is wrong with the command line, or the help that was asked for.
fn not_run(error: &clap::Error, given: &[OsString]) -> ExitCode {
    let code = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
    let said = error.print().and_then(|()| io::stdout().flush());
    if let Some(advice) = advice(error, given) {
        let _ = writeln!(io::stderr(), "\n  help: {advice}");
    }
    match said {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write the output: {error}");
            Exit::Partial.code().into()
        }
        _ => code.code().into(),
    }
}

fn terminal(cli: &Cli, stream: &impl IsTerminal) -> Terminal {
    let interactive = stream.is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    let colour = match cli.color() {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => interactive && !no_color && !dumb,
    };
    let width = if interactive { terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)) } else { None };
    Terminal { colour, width: width.map_or(Terminal::default().width, |width| width.clamp(40, 160)) }
}
