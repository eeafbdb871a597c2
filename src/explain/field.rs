//! Who wrote a field.
