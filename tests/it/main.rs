//! Integration tests: one binary, one module a subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by them")]
#![allow(clippy::print_stdout, reason = "figures, and what a person looks for who debugs a case")]

mod bad_input;
mod cli;
mod dump;
mod generate;
mod input;
mod parity;
mod properties;
mod real;
mod reference;
mod rules;
mod seeds;
mod support;
mod tidy;
