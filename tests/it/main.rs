//! Integration tests: one binary, one module a subject.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by them")]
#![allow(clippy::print_stdout, reason = "figures, and what a person looks for who debugs a case")]

mod api;
mod audit;
mod audit_field;
mod audit_recordings;
mod bad_input;
mod cli;
mod completion;
mod corpus_lint;
mod custom_rules;
mod definitions;
mod dump;
mod envoy;
mod field_failures;
mod generate;
mod input;
mod istio_samples;
mod istioctl;
mod leaks;
mod lint_cli;
mod linting;
mod live;
mod parity;
mod properties;
mod real;
mod reference;
mod rules;
mod seeds;
mod seeds_lint;
mod support;
mod tidy;
mod truth;
mod unapply;
mod webhook;
mod webhook_deploy;
