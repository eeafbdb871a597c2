//! What a terminal shows while proxies are read, and what Ctrl-C does.

#[cfg(feature = "cluster")]
use crate::cluster::Stop;
use crate::mesh::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
#[cfg(feature = "cluster")]
use std::cell::OnceCell;
use std::cell::RefCell;
#[cfg(feature = "cluster")]
use std::thread;
#[cfg(feature = "cluster")]
use tokio::runtime::Builder;

/// A progress bar if standard error is a terminal, and Ctrl-C.
pub(super) struct Watched {
    shown: bool,
    bar: RefCell<Option<ProgressBar>>,
    #[cfg(feature = "cluster")]
    stop: OnceCell<Stop>,
}

impl Watched {
    /// `shown`: whether to show a progress bar.
    pub(super) fn new(shown: bool) -> Watched {
        Watched {
            shown,
            bar: RefCell::default(),
            #[cfg(feature = "cluster")]
            stop: OnceCell::new(),
        }
    }

    /// Another one without a progress bar that stops together with this one.
    pub(super) fn sharing(&self) -> Watched {
        Watched {
            shown: false,
            bar: RefCell::default(),
            #[cfg(feature = "cluster")]
            stop: OnceCell::from(self.stop.get_or_init(interrupts).clone()),
        }
    }
}

impl Progress for Watched {
    fn begin(&self, proxies: usize) {
        // No ticks: a bar that draws from another thread would wait for our lock on standard error.
        let target = if self.shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(proxies as u64), target);
        if let Ok(style) = ProgressStyle::with_template("reading proxies [{bar:30}] {pos}/{len} {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        self.bar.replace(Some(bar));
    }

    fn advance(&self) {
        if let Some(bar) = &*self.bar.borrow() {
            bar.inc(1);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    #[cfg(feature = "cluster")]
    fn stop(&self) -> Option<Stop> {
        Some(self.stop.get_or_init(interrupts).clone())
    }
}

/// The first Ctrl-C ends every wait, the second ends the process.
#[cfg(feature = "cluster")]
fn interrupts() -> Stop {
    let (sender, stop) = Stop::new();
    let listen = async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            let _ = sender.send(true);
            let _ = tokio::signal::ctrl_c().await;
            leave();
        }
        std::future::pending::<()>().await;
    };
    thread::spawn(move || {
        if let Ok(runtime) = Builder::new_current_thread().enable_all().build() {
            runtime.block_on(listen);
        }
    });
    stop
}

/// Exits with the code that shells use for an interruption.
#[cfg(feature = "cluster")]
#[expect(clippy::exit, reason = "the main thread may be busy computing and cannot be asked")]
fn leave() -> ! {
    std::process::exit(130)
}
