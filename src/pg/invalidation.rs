//! Counts the invalidations that reach a session. What the session caches from the catalogs ([`Cached`]) is used only
//! while the count is unchanged.
//!
//! Invalidations from other sessions arrive when a lock is taken, a transaction begins, or AcceptInvalidationMessages
//! is called.

#![expect(unsafe_code, reason = "invalidation callbacks")]

use pgrx::pg_sys;
use std::cell::{Cell, RefCell};

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static RELATIONS: Cell<u64> = const { Cell::new(0) };
    static OTHERS: Cell<u64> = const { Cell::new(0) };
}

unsafe extern "C-unwind" fn relation_changed(_arg: pg_sys::Datum, _relation: pg_sys::Oid) {
    RELATIONS.set(RELATIONS.get() + 1);
}

unsafe extern "C-unwind" fn database_changed(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    RELATIONS.set(RELATIONS.get() + 1);
}

unsafe extern "C-unwind" fn other_changed(_arg: pg_sys::Datum, _cache: i32, _hash: u32) {
    OTHERS.set(OTHERS.get() + 1);
}

/// Takes in the invalidations of other sessions.
pub fn process() {
    // SAFETY: in a transaction; it runs callbacks, of which ours only count.
    unsafe { pg_sys::AcceptInvalidationMessages() };
}

fn watch() {
    use pg_sys::SysCacheIdentifier::{
        AMOPOPID, AUTHMEMMEMROLE, AUTHOID, CASTSOURCETARGET, DATABASEOID, NAMESPACEOID, OPEROID, PROCOID, TYPEOID,
    };
    if WATCHED.replace(true) {
        return;
    }
    let none = pg_sys::Datum::from(0usize);
    // SAFETY: callbacks that only count, of this library, which is never unloaded; registered once in a process.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), none);
        pg_sys::CacheRegisterSyscacheCallback(DATABASEOID as i32, Some(database_changed), none);
        for cache in [AMOPOPID, AUTHMEMMEMROLE, AUTHOID, CASTSOURCETARGET, NAMESPACEOID, OPEROID, PROCOID, TYPEOID] {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(other_changed), none);
        }
    }
}

/// Counts changes of relations (columns, triggers, privileges, policies), of any table, and of pg_database.
pub fn relations() -> u64 {
    watch();
    RELATIONS.get()
}

/// [`relations`], and changes of schemas, roles, functions, types and operators: all that makes PostgreSQL drop a
/// cached plan.
pub fn catalogs() -> u64 {
    relations() + OTHERS.get()
}

/// A count that never changes, for answers that never become false, such as those about an OID that is in use.
pub fn never() -> u64 {
    0
}

/// Caches answers by key, each valid while its count ([`relations`], [`catalogs`], [`never`]) is unchanged. All caches
/// of the catalogs are of this type.
pub struct Cached<K, V> {
    count: fn() -> u64,
    /// At this many entries, all are dropped.
    room: usize,
    kept: RefCell<Vec<(u64, K, V)>>,
}

impl<K: PartialEq, V: Clone> Cached<K, V> {
    pub const fn new(room: usize, count: fn() -> u64) -> Self {
        Self { count, room, kept: RefCell::new(Vec::new()) }
    }

    /// The answer for `key`: cached, or from `ask` and then cached unless it is an error. The count is read before
    /// `ask`, because its answer may miss changes that arrive meanwhile. `ask` may raise, and may use this cache.
    pub fn get<E>(&self, key: K, ask: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let count = (self.count)();
        if let Some(known) = self.known(count, &key) {
            return Ok(known);
        }
        let answer = ask()?;
        self.keep(count, key, answer.clone());
        Ok(answer)
    }

    /// The answer cached for `key` at this count.
    pub fn known(&self, count: u64, key: &K) -> Option<V> {
        self.kept.borrow().iter().find(|kept| kept.0 == count && kept.1 == *key).map(|kept| kept.2.clone())
    }

    /// Caches an answer that is valid at this count.
    pub fn keep(&self, count: u64, key: K, answer: V) {
        let mut kept = self.kept.borrow_mut();
        if let Some(old) = kept.iter_mut().find(|kept| kept.1 == key) {
            *old = (count, key, answer);
            return;
        }
        if kept.len() >= self.room {
            kept.clear();
        }
        kept.push((count, key, answer));
    }

    pub fn forget(&self) {
        self.kept.borrow_mut().clear();
    }
}
