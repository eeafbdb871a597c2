//! Integration tests: one binary, one module a subject.
