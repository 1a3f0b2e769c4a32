//! Tests that run inside a server, of what SQL can hardly reach: containing errors, snapshots made by hand,
//! registrations under an old snapshot, hooks of settings, invalidations, counting memory. `make pgrx-test`.
//!
//! Each is a function of the extension in schema `tests`, called in its own transaction, which is rolled back.

#![expect(unsafe_code, reason = "calls what it tests")]

use pgrx::prelude::*;

#[pg_schema]
mod tests {
    use crate::call::fmgr::text_datum;
    use crate::call::work_memory::{Bytes, Room};
    use crate::catalog::registration;
    use crate::catalog::registration::Functions;
    use crate::image::{chunks, control, grow};
    use crate::pg::contain;
    use crate::pg::invalidation::{Cached, catalogs, relations};
    use crate::pg::snapshot::{Snapshot, SnapshotView, full_xid, with_registered};
    use cftrag_core::{Hint, View, Visibility};
    use pgrx::pg_sys::panic::{CaughtError, ErrorReportable};
    use pgrx::prelude::*;
    use std::cell::Cell;
    use std::convert::Infallible;
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::Ordering::SeqCst;

    fn run(sql: &str) {
        Spi::run(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    fn one<T: FromDatum + IntoDatum>(sql: &str) -> Option<T> {
        Spi::get_one(sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The SQLSTATE and the message of the ERROR that `f` raises, within a subtransaction.
    fn raised(f: impl FnOnce()) -> (PgSqlErrorCode, String) {
        let failed = AssertUnwindSafe(Cell::new(None));
        let done = contain::attempt(|| {
            PgTryBuilder::new(AssertUnwindSafe(f))
                .catch_others(|error| {
                    if let CaughtError::PostgresError(report) | CaughtError::ErrorReport(report) = &error {
                        failed.set(Some((report.sql_error_code(), report.message().to_owned())));
                    }
                    error.rethrow()
                })
                .execute()
        });
        assert!(done.is_none(), "it did not fail");
        failed.take().unwrap_or_else(|| panic!("it failed by no ERROR"))
    }

    fn failure(sql: &str) -> (PgSqlErrorCode, String) {
        raised(|| run(sql))
    }

    /// The current resource owner and memory context.
    fn owner() -> (pg_sys::ResourceOwner, pg_sys::MemoryContext) {
        // SAFETY: backend variables.
        unsafe { (pg_sys::CurrentResourceOwner, pg_sys::CurrentMemoryContext) }
    }

    fn held_off() -> u32 {
        // SAFETY: a backend variable.
        unsafe { pg_sys::InterruptHoldoffCount }
    }

    /// The nesting level of transactions and subtransactions.
    fn level() -> i32 {
        // SAFETY: reads backend state.
        unsafe { pg_sys::GetCurrentTransactionNestLevel() }
    }

    /// The xid of the innermost transaction, assigned if it has none.
    fn own_xid() -> u32 {
        // SAFETY: a transaction is open in every test.
        u32::from(unsafe { pg_sys::GetCurrentTransactionId() })
    }

    // ---- pg/contain.rs

    #[pg_test]
    fn an_error_is_contained_with_what_was_written() {
        run("CREATE TABLE kept (n int)");
        let before = owner();
        assert_eq!(contain::attempt(|| run("INSERT INTO kept VALUES (1)")), Some(()));
        let failed = contain::attempt(|| {
            run("INSERT INTO kept VALUES (2)");
            assert!(contain::inside());
            run("SELECT 1 / 0");
        });
        assert_eq!((failed, contain::inside()), (None, false));
        assert_eq!(owner(), before);
        assert_eq!(one::<i64>("SELECT sum(n) FROM kept"), Some(1), "the session goes on, without the second row");
    }

    #[pg_test]
    fn a_panic_is_contained_with_its_locks_and_held_interrupts() {
        let control = control::attach().expect("preloaded");
        let held = held_off();
        let (_, lock) = control.find_or_take(pg_sys::Oid::from(1)).expect("a free slot");
        let failed: Option<()> = contain::panic(|| {
            lock.read(|_| panic!("a bug of ours, under a lightweight lock"));
        });
        assert!(failed.is_none());
        assert_eq!(held_off(), held);
        assert!(lock.read(|_| true), "the lock was let go");
        let failed: Option<()> = contain::attempt(|| lock.read(|_| panic!("again, in a subtransaction")));
        assert!(failed.is_none());
        assert_eq!(held_off(), held);
        assert!(lock.read(|_| true));
        assert_eq!(one::<i32>("SELECT 1"), Some(1));
    }

    #[pg_test]
    fn at_commit_no_subtransaction_is_needed() {
        let before = owner();
        contain::set_committing(true);
        let fine = contain::attempt(level);
        // SAFETY: opens a catalog; only a resource owner releases the reference.
        let failed: Option<()> = contain::attempt(|| unsafe {
            pg_sys::relation_open(pg_sys::RelationRelationId, pg_sys::AccessShareLock as i32);
            error!("as memory runs out");
        });
        contain::set_committing(false);
        assert_eq!((fine, failed), (Some(level()), None));
        assert_eq!(owner(), before);
        // SAFETY: opens and closes a catalog; its descriptor exists in between.
        let references = unsafe {
            let class = pg_sys::relation_open(pg_sys::RelationRelationId, pg_sys::AccessShareLock as i32);
            let count = (*class).rd_refcnt;
            pg_sys::relation_close(class, pg_sys::AccessShareLock as i32);
            count
        };
        assert_eq!(references, 2, "the relcache's own, which is nailed, and this one");
        assert_eq!(one::<i32>("SELECT 1"), Some(1));
    }

    #[pg_test]
    fn inside_an_attempt_another_one_is_not_begun() {
        let outer = level();
        assert_eq!(contain::attempt(|| (level(), contain::attempt(level))), Some((outer + 1, Some(outer + 1))));
        let failed = contain::attempt(|| contain::attempt(|| error!("goes to the outer one")));
        assert!(failed.is_none());
    }

    // ---- pg/snapshot.rs

    /// PostgreSQL's own answer about an xid under a snapshot (XidInMVCCSnapshot, then TransactionIdDidCommit).
    fn by_postgres(xid: u32, snapshot: &mut pg_sys::SnapshotData) -> View {
        let xid = pg_sys::TransactionId::from(xid);
        // SAFETY: a snapshot whose lists have as many xids as it says; an xid that the commit log has.
        unsafe {
            match () {
                () if pg_sys::TransactionIdIsCurrentTransactionId(xid) => View::Own,
                () if pg_sys::XidInMVCCSnapshot(xid, snapshot) => View::Unseen,
                () if pg_sys::TransactionIdDidCommit(xid) => View::Seen,
                () => View::Unseen,
            }
        }
    }

    /// A test cannot commit transactions, so these are xids of subtransactions, released and rolled back.
    fn xids() -> Vec<u32> {
        let mut xids = Vec::new();
        for back in [false, true, false] {
            let _ = contain::attempt(|| {
                xids.push(own_xid());
                if back {
                    error!("rolled back");
                }
            });
        }
        xids
    }

    #[pg_test]
    fn snapshots_however_they_are_made_see_what_postgresql_sees() {
        let own = xids();
        // The other tests, which run at the same time, are rolled back.
        let committed =
            one::<i64>("SELECT xmin::text::int8 FROM pg_extension WHERE extname = 'cftrag'").expect("created") as u32;
        // SAFETY: a function that a statement calls has an active snapshot.
        let now = unsafe { *pg_sys::GetActiveSnapshot() };
        let next = u32::from(now.xmax);
        let (mut some, mut none) = ([pg_sys::TransactionId::from(next - 3), pg_sys::TransactionId::from(next - 1)], []);
        let xid = pg_sys::TransactionId::from;
        type Change<'a> = (&'static str, Box<dyn FnMut(&mut pg_sys::SnapshotData) + 'a>);
        let running = some.as_mut_ptr();
        let empty: *mut pg_sys::TransactionId = none.as_mut_ptr();
        let changes: [Change<'_>; 7] = [
            ("as it is", Box::new(|_| {})),
            (
                "lists what runs",
                Box::new(|s| (s.xmin, s.xmax, s.xip, s.xcnt) = (xid(next - 4), xid(next + 2), running, 2)),
            ),
            (
                "lists subtransactions",
                Box::new(|s| (s.xmin, s.xmax, s.subxip, s.subxcnt) = (xid(next - 4), xid(next + 2), running, 2)),
            ),
            (
                "a copy of an overflowed one: a number without a list",
                Box::new(|s| {
                    // Its xmin is the backend's own: pg_subtrans is kept from that xid on.
                    (s.suboverflowed, s.subxip, s.subxcnt) = (true, std::ptr::null_mut(), 64);
                }),
            ),
            (
                "taken in recovery",
                Box::new(|s| {
                    (s.xmin, s.xmax, s.takenDuringRecovery) = (xid(next - 4), xid(next + 2), true);
                    (s.xip, s.xcnt, s.subxip, s.subxcnt) = (std::ptr::null_mut(), 0, running, 2);
                }),
            ),
            (
                "of logical decoding: xmin is greater than xmax",
                Box::new(|s| (s.xmin, s.xmax, s.xip, s.xcnt) = (xid(next), xid(committed), empty, 0)),
            ),
            ("nothing runs, and no list", Box::new(|s| (s.xmin, s.xip, s.xcnt) = (s.xmax, std::ptr::null_mut(), 0))),
        ];
        for (name, mut change) in changes {
            let mut made = now;
            change(&mut made);
            // SAFETY: a snapshot that stays in place while the view uses it.
            let mut view = unsafe { SnapshotView::new(&mut made) };
            assert!(view.running().count() == made.xcnt as usize, "{name}");
            let (mut seen, mut between) = (false, false);
            for short in (next - 8..next + 4).chain([committed - 1, committed]).chain(own.iter().copied()) {
                let full = full_xid(short);
                let mut said = view.view(full, Hint::None);
                if said == View::Unknown {
                    view.learn(&[full]).expect("the commit log reaches so far");
                    said = view.view(full, Hint::None);
                }
                assert_eq!(said, by_postgres(short, &mut made), "{name}: {short}, next {next}");
                between |= said == View::Seen && short >= u32::from(made.xmax);
                seen |= said == View::Seen;
                // A hint is the xid's fate, and says nothing about the snapshot.
                // SAFETY: as in by_postgres.
                let committed = unsafe { pg_sys::TransactionIdDidCommit(xid(short)) };
                // SAFETY: as for `view`.
                let hinted = unsafe { SnapshotView::new(&mut made) }
                    .view(full, if committed { Hint::Committed } else { Hint::Aborted });
                assert!(hinted == said || hinted == View::Unknown, "{name}: {short} with a hint");
            }
            assert!(seen, "{name}: one of them is committed and seen");
            assert_eq!(between, made.xmin > made.xmax, "{name}");
        }
    }

    #[pg_test]
    fn many_open_subtransactions_are_asked_about_outside_the_lock() {
        fn deeper(levels: u32) {
            if levels > 0 {
                // SAFETY: the protocol of plpgsql's exception blocks: memory context and owner are restored.
                return unsafe {
                    let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
                    pg_sys::BeginInternalSubTransaction(std::ptr::null());
                    pg_sys::GetCurrentTransactionId();
                    deeper(levels - 1);
                    pg_sys::ReleaseCurrentSubTransaction();
                    pg_sys::MemoryContextSwitchTo(context);
                    pg_sys::CurrentResourceOwner = owner;
                };
            }
            let own = full_xid(own_xid());
            // SAFETY: the active snapshot.
            let mut view = unsafe { SnapshotView::new(pg_sys::GetActiveSnapshot()) };
            assert_eq!(view.view(own, Hint::None), View::Unknown);
            view.learn(&[own]).expect("its own");
            assert_eq!(view.view(own, Hint::None), View::Own);
        }
        deeper(40);
    }

    #[pg_test]
    fn xids_have_the_epoch_of_now() {
        // SAFETY: reads shared state under its lock.
        let next = unsafe { pg_sys::ReadNextFullTransactionId().value };
        assert_eq!(full_xid(next as u32), next);
        assert_eq!(full_xid((next as u32).wrapping_sub(10)), next.wrapping_sub(10));
        assert_eq!(full_xid((next as u32).wrapping_add(10)), next + 10);
    }

    // ---- catalog/registration.rs

    #[pg_test]
    fn a_registration_is_read_as_of_the_snapshot() {
        run("CREATE TABLE tags (parent text, child text, above text)");
        let table = pg_sys::Oid::from(one::<i64>("SELECT 'tags'::regclass::oid::int8").expect("made above") as u32);
        let functions = Functions::of_extension();
        let parent =
            |snapshot: Option<Snapshot<'_>>| Some(registration::read(table, snapshot, functions)?.names.parent);
        with_registered(|before| {
            run("SELECT cft_attach('tags')");
            with_registered(|between| {
                run("SELECT cft_attach('tags', parent => 'above')");
                with_registered(|after| {
                    assert_eq!(parent(Some(before)), None);
                    assert_eq!(parent(Some(between)).as_deref(), Some("parent"));
                    assert_eq!(parent(Some(after)).as_deref(), Some("above"));
                    assert_eq!(parent(None).as_deref(), Some("above"), "as of now");
                    run("SELECT cft_detach('tags')");
                    assert_eq!(parent(Some(after)).as_deref(), Some("above"));
                    assert_eq!(parent(None), None);
                });
            });
        });
    }

    // ---- settings

    #[pg_test]
    fn hooks_of_settings_refuse_what_is_no_format() {
        for (name, bad, good) in [
            ("cftrag.template", "{question}", "{entity}: {relatives} {{x}}"),
            ("cftrag.prompt_template", "{entity}", "{hierarchy}{question}"),
        ] {
            for bad in [bad, "{", "}", "{}", "{ entity }"] {
                let (code, message) = failure(&format!("SET {name} = '{bad}'"));
                assert_eq!(code, PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, "{name} {bad}");
                assert_eq!(message, format!("invalid value for parameter \"{name}\": \"{bad}\""));
            }
            run(&format!("SET {name} = '{good}'"));
            failure(&format!("SET {name} = '{bad}'"));
            assert_eq!(one::<String>(&format!("SHOW {name}")).as_deref(), Some(good), "what was set before stays");
            run(&format!("RESET {name}"));
        }
        assert_eq!(failure("SET cftrag.nope = 1").0, PgSqlErrorCode::ERRCODE_INVALID_NAME, "the prefix is reserved");
        assert_eq!(failure("SET cftrag.temperature = 'warm'").0, PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE);
        assert_eq!(failure("SET cftrag.memory_limit = '1GB'").0, PgSqlErrorCode::ERRCODE_CANT_CHANGE_RUNTIME_PARAM);
    }

    // ---- pg/invalidation.rs

    #[pg_test]
    fn what_is_kept_of_the_catalogs_ends_when_they_change() {
        run("CREATE TABLE watched (n int)");
        let asked = Cell::new(0);
        let ask = || {
            asked.set(asked.get() + 1);
            Ok::<_, Infallible>(asked.get())
        };
        let (of_relations, of_catalogs) = (Cached::new(2, relations), Cached::new(2, catalogs));
        let both = |key| (of_relations.get(key, ask), of_catalogs.get(key, ask));
        assert_eq!(both(1), (Ok(1), Ok(2)));
        run("INSERT INTO watched VALUES (1)");
        assert_eq!(both(1), (Ok(1), Ok(2)), "rows are no catalog");
        run("ALTER TABLE watched ADD m int");
        assert_eq!(both(1), (Ok(3), Ok(4)));
        run("CREATE FUNCTION watched() RETURNS int LANGUAGE sql AS 'SELECT 1'");
        assert_eq!(both(1), (Ok(3), Ok(5)), "a function is no relation");
        run("CREATE ROLE regress_cft_watched");
        assert_eq!(both(1), (Ok(3), Ok(6)));
        // The cache has room for two: a third empties it.
        assert_eq!(both(2), (Ok(7), Ok(8)));
        assert_eq!(both(3), (Ok(9), Ok(10)));
        assert_eq!(both(1), (Ok(11), Ok(12)));
        // Errors are not cached.
        assert_eq!(of_relations.get(4, || Err::<i32, _>("no")), Err("no"));
        assert_eq!(of_relations.get(4, || Err::<i32, _>("no again")), Err("no again"));
    }

    // ---- memory

    #[pg_test]
    fn memory_of_a_call_ends_at_its_setting() {
        run("SET cftrag.work_memory = '64kB'");
        let mut bytes = Bytes::default();
        bytes.room(1000).expect("a workspace has some from the start");
        assert_eq!(
            raised(|| bytes.room(1 << 20).unwrap_or_report()).0,
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED
        );
        assert!(bytes.room_beside(1000, 1 << 20).is_err(), "what lies beside it counts");
        let mut room = Room::new();
        room.take(60 << 10).expect("within");
        assert_eq!(
            raised(|| room.take(8 << 10).unwrap_or_report()).0,
            PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED
        );
        run("SET cftrag.work_memory = '1GB'");
        let mut room = Room::new();
        room.take(1 << 20).expect("there is so much");
        room.grow_to(1 << 21).expect("and as much again");
        assert!(room.take(usize::MAX).is_err());
    }

    #[pg_test]
    fn shared_memory_is_counted_while_it_is_used() {
        let control = control::attach().expect("preloaded");
        let used = || control.memory_used.load(SeqCst);
        let before = used();
        let (index, _) = control.find_or_take(pg_sys::Oid::from(1)).expect("a free place");
        let (token, address) = grow::allocate(control, index, 1 << 16).expect("within the limit");
        assert_eq!(used(), before + (1 << 16));
        // SAFETY: that many bytes were allocated.
        unsafe { address.as_ptr().write_bytes(0x5A, 1 << 16) };
        assert!(grow::allocate(control, index, 1 << 40).is_none(), "past the limit");
        assert_eq!(used(), before + (1 << 16));
        chunks::release(control, token, 1 << 16);
        assert_eq!(used(), before);
    }

    #[pg_test]
    fn values_are_what_postgresql_makes_of_them() {
        let text = text_datum("ä".as_bytes());
        // SAFETY: a text.
        assert_eq!(unsafe { crate::call::text::text_bytes(text) }, "ä".as_bytes());
        let array = crate::call::fmgr::text_array(&[b"b", b"", b"b", b"a"]);
        // SAFETY: a text[].
        let texts = unsafe { crate::call::array::Texts::of(crate::call::text::Text::here(array)) };
        assert_eq!(texts.names().expect("memory"), [&b"b"[..], b"", b"a"]);
    }
}

/// pgrx-tests calls this before the first test.
#[cfg(test)]
pub mod pg_test {
    pub fn setup(_options: Vec<&str>) {}

    pub fn postgresql_conf_options() -> Vec<&'static str> {
        vec!["shared_preload_libraries = 'cftrag'"]
    }
}
