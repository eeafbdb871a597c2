//! The `kubectl-envoyfilter` command.

fn main() {}
