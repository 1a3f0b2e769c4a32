//! Counts what the server's invalidations tell a session; what it keeps of the catalogs ([`Cached`]) is used only while nothing has changed.
//!
//! Those that other sessions have sent count once a lock was taken, a transaction begun, or AcceptInvalidationMessages called.

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

/// Changes so far of relations (columns, triggers, privileges, policies), of any table, and of pg_database.
pub fn relations() -> u64 {
    watch();
    RELATIONS.get()
}

/// [`relations`], and of schemas, roles, functions, types and operators: as much as makes PostgreSQL forget a kept plan.
pub fn catalogs() -> u64 {
    relations() + OTHERS.get()
}

/// For answers that stay true, such as those about an OID that is in use: nothing ends them.
pub fn never() -> u64 {
    0
}

/// Answers kept, each with what was asked, while the count of what they rest on ([`relations`], [`catalogs`], [`never`]) stays. The only cache
/// of what the catalogs say.
pub struct Cached<K, V> {
    count: fn() -> u64,
    /// Where there are as many, all are forgotten.
    room: usize,
    kept: RefCell<Vec<(u64, K, V)>>,
}

impl<K: PartialEq, V: Clone> Cached<K, V> {
    pub const fn new(room: usize, count: fn() -> u64) -> Self {
        Self { count, room, kept: RefCell::new(Vec::new()) }
    }

    /// The answer for `key`: the one that is kept, else that of `ask`, which is kept unless it is an error. What changes while it is asked
    /// is not known to be in it, so it counts as of before. `ask` may raise, and may ask this cache.
    pub fn get<E>(&self, key: K, ask: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let count = (self.count)();
        if let Some(known) = self.known(count, &key) {
            return Ok(known);
        }
        let answer = ask()?;
        self.keep(count, key, answer.clone());
        Ok(answer)
    }

    /// The answer kept for `key` as of this count.
    pub fn known(&self, count: u64, key: &K) -> Option<V> {
        self.kept.borrow().iter().find(|kept| kept.0 == count && kept.1 == *key).map(|kept| kept.2.clone())
    }

    /// Keeps an answer that is true as of this count.
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
