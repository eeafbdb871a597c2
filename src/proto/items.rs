//! A list whose copies share their items until one of them changes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A list that is copied in constant time: the engine starts every run from the same configuration and changes little of it.
///
/// Changing it copies its items first if another copy has them; what is in the items stays shared.
#[derive(Clone, Debug)]
pub struct Items<T>(Arc<Vec<T>>);

impl<T: Clone> Items<T> {
    /// The items, copied if another copy has them.
    pub(crate) fn into_vec(self) -> Vec<T> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<T> Default for Items<T> {
    fn default() -> Items<T> {
        Items(Arc::default())
    }
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(items: Vec<T>) -> Items<T> {
        Items(Arc::new(items))
    }
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Items<T> {
        Vec::from_iter(items).into()
    }
}

impl<T> Deref for Items<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Clone> DerefMut for Items<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Clone> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'t, T> IntoIterator for &'t Items<T> {
    type Item = &'t T;
    type IntoIter = std::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'t, T: Clone> IntoIterator for &'t mut Items<T> {
    type Item = &'t mut T;
    type IntoIter = std::slice::IterMut<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::Items;

    #[test]
    fn a_change_of_a_copy_leaves_the_original_and_what_is_inside_shared() {
        let inner = Items::from(vec![1, 2]);
        let original = Items::from(vec![inner.clone(), Items::default()]);
        let mut copy = original.clone();
        copy[1].push(3);
        assert_eq!((original[1].len(), copy[1].len()), (0, 1));
        assert!(std::ptr::eq(&raw const *original[0], &raw const *copy[0]), "the first item was copied");
        assert!(std::ptr::eq(&raw const *inner, &raw const *copy[0]));
        let items: Vec<_> = copy.into_iter().flatten().collect();
        assert_eq!(items, [1, 2, 3]);
    }
}
