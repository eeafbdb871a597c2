//! What a rule computes once for the run of a proxy, however many patches ask for it.

use super::context::ProxyRun;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Values by the address of the run in memory.
pub(crate) struct PerRun<T>(RefCell<HashMap<usize, Rc<T>>>);

impl<T> PerRun<T> {
    pub(crate) fn new() -> PerRun<T> {
        PerRun(RefCell::new(HashMap::new()))
    }

    /// The value of a run, made when first asked for.
    pub(crate) fn of(&self, run: &ProxyRun<'_>, make: impl FnOnce(&ProxyRun<'_>) -> T) -> Rc<T> {
        let mut known = self.0.borrow_mut();
        Rc::clone(known.entry(std::ptr::from_ref(run).addr()).or_insert_with(|| Rc::new(make(run))))
    }
}
