//! Differences between PostgreSQL 15 to 18, in one place: names that moved, arguments that were added. No logic.

#![expect(unsafe_code, reason = "locks, snapshots and a table scan")]

/// Sets a signal's handler in a server process. (A macro since 18.)
#[cfg(not(feature = "pg18"))]
pub use pg_sys::pqsignal;
#[cfg(feature = "pg18")]
pub use pg_sys::pqsignal_be as pqsignal;
use pgrx::pg_sys;

pub fn random_seed() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: fills eight bytes; on failure (no entropy) they stay zero and only resistance to aimed collisions is
    // lost.
    unsafe { pg_sys::pg_strong_random(bytes.as_mut_ptr().cast(), bytes.len()) };
    u64::from_ne_bytes(bytes)
}

/// A table's file: tablespace, database, file number. A rewrite changes it, and a rollback restores it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Locator {
    pub tablespace: u32,
    pub database: u32,
    pub file: u32,
}

impl Locator {
    /// The path of the file's first segment, from the data directory, which is every server process's working
    /// directory.
    pub fn path(&self) -> String {
        // SAFETY: a palloc'd C string.
        unsafe {
            let folder = pg_sys::GetDatabasePath(pg_sys::Oid::from(self.database), pg_sys::Oid::from(self.tablespace));
            let path = format!("{}/{}", std::ffi::CStr::from_ptr(folder).to_string_lossy(), self.file);
            pg_sys::pfree(folder.cast());
            path
        }
    }
}

/// # Safety
/// `rel` is an open relation.
pub unsafe fn locator(rel: pg_sys::Relation) -> Locator {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(feature = "pg15")]
        let (tablespace, database, file) =
            ((*rel).rd_node.spcNode, (*rel).rd_node.dbNode, u32::from((*rel).rd_node.relNode));
        #[cfg(not(feature = "pg15"))]
        let (tablespace, database, file) =
            ((*rel).rd_locator.spcOid, (*rel).rd_locator.dbOid, u32::from((*rel).rd_locator.relNumber));
        Locator { tablespace: u32::from(tablespace), database: u32::from(database), file }
    }
}

#[cfg(feature = "pg15")]
pub type File = pg_sys::RelFileNode;

#[cfg(not(feature = "pg15"))]
pub type File = pg_sys::RelFileLocator;

/// # Safety
/// `rel` is an open relation.
pub unsafe fn file(rel: pg_sys::Relation) -> File {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(feature = "pg15")]
        return (*rel).rd_node;
        #[cfg(not(feature = "pg15"))]
        return (*rel).rd_locator;
    }
}

/// The tuple with that number on a page, and its length.
///
/// # Safety
/// A page of a heap, pinned and locked.
pub unsafe fn tuple_at(page: pg_sys::Page, number: pg_sys::OffsetNumber) -> Option<(pg_sys::HeapTupleHeader, u32)> {
    /// ItemIdData.lp_flags of a line pointer that leads to a tuple (storage/itemid.h).
    const LP_NORMAL: u32 = 1;
    // SAFETY: the caller's promise; line pointers follow the header, up to pd_lower.
    unsafe {
        let header = page.cast::<pg_sys::PageHeaderData>();
        let first = std::mem::offset_of!(pg_sys::PageHeaderData, pd_linp);
        let count = ((*header).pd_lower as usize).saturating_sub(first) / size_of::<pg_sys::ItemIdData>();
        if number == 0 || number as usize > count {
            return None;
        }
        let item = &*page.cast::<u8>().add(first).cast::<pg_sys::ItemIdData>().add(number as usize - 1);
        (item.lp_flags() == LP_NORMAL).then(|| (page.cast::<u8>().add(item.lp_off() as usize).cast(), item.lp_len()))
    }
}

/// The planner's estimate of an array expression's length.
///
/// # Safety
/// An expression that is being planned.
pub unsafe fn estimate_array_length(root: *mut pg_sys::PlannerInfo, array: *mut pg_sys::Node) -> f64 {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return f64::from({
            let _ = root;
            pg_sys::estimate_array_length(array)
        });
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return pg_sys::estimate_array_length(root, array);
    }
}

/// Whether this transaction created the table or gave it a new relfilenode.
///
/// # Safety
/// `rel` is an open relation.
pub unsafe fn rewritten_here(rel: pg_sys::Relation) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(feature = "pg15")]
        let (new, first) = ((*rel).rd_newRelfilenodeSubid, (*rel).rd_firstRelfilenodeSubid);
        #[cfg(not(feature = "pg15"))]
        let (new, first) = ((*rel).rd_newRelfilelocatorSubid, (*rel).rd_firstRelfilelocatorSubid);
        (*rel).rd_createSubid != 0 || new != 0 || first != 0
    }
}

/// Functions that take any numbers, and return one: lookups in the catalogs, and in the process's own lists.
pub mod numbers {
    use pgrx::pg_sys;
    use pgrx::pg_sys::{AclMode, Oid};
    use std::ffi::{c_char, c_int};

    macro_rules! of_numbers {
        ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $of:ty),*) -> $result:ty;)*) => {$(
            $(#[$attribute])*
            #[allow(non_snake_case, reason = "the server's names")]
            pub fn $name($($argument: $of),*) -> $result {
                // SAFETY: numbers, which may be any; an ERROR, where catalogs are damaged, becomes a panic.
                unsafe { pg_sys::$name($($argument),*) }
            }
        )*};
    }

    of_numbers! {
        fn AfterTriggerPendingOnRel(table: Oid) -> bool;
        fn check_enable_rls(table: Oid, role: Oid, no_error: bool) -> c_int;
        fn ConditionalLockRelationOid(table: Oid, mode: pg_sys::LOCKMODE) -> bool;
        fn get_array_type(of: Oid) -> Oid;
        fn get_atttype(table: Oid, number: i16) -> Oid;
        fn get_collation_isdeterministic(collation: Oid) -> bool;
        fn get_func_namespace(function: Oid) -> Oid;
        fn get_func_rettype(function: Oid) -> Oid;
        fn get_op_opfamily_sortfamily(operator: Oid, family: Oid) -> Oid;
        fn get_opclass_family(class: Oid) -> Oid;
        fn get_opclass_input_type(class: Oid) -> Oid;
        fn get_opfamily_member(family: Oid, left: Oid, right: Oid, strategy: i16) -> Oid;
        fn get_rel_namespace(table: Oid) -> Oid;
        fn get_rel_persistence(table: Oid) -> c_char;
        fn get_rel_relkind(table: Oid) -> c_char;
        fn get_typtype(of: Oid) -> c_char;
        fn getBaseType(of: Oid) -> Oid;
        fn getExtensionOfObject(class: Oid, object: Oid) -> Oid;
        fn has_privs_of_role(member: Oid, role: Oid) -> bool;
        #[cfg(feature = "pg15")]
        fn is_member_of_role(member: Oid, role: Oid) -> bool;
        fn LockRelationOid(table: Oid, mode: pg_sys::LOCKMODE) -> ();
        #[cfg(not(feature = "pg15"))]
        fn member_can_set_role(member: Oid, role: Oid) -> bool;
        #[cfg(not(feature = "pg15"))]
        fn object_aclcheck(class: Oid, object: Oid, role: Oid, mode: AclMode) -> pg_sys::AclResult::Type;
        #[cfg(not(feature = "pg15"))]
        fn object_ownercheck(class: Oid, object: Oid, role: Oid) -> bool;
        fn pg_attribute_aclcheck_all(
            table: Oid,
            role: Oid,
            mode: AclMode,
            how: pg_sys::AclMaskHow::Type
        ) -> pg_sys::AclResult::Type;
        #[cfg(feature = "pg15")]
        fn pg_class_ownercheck(table: Oid, role: Oid) -> bool;
        #[cfg(feature = "pg15")]
        fn pg_namespace_aclcheck(schema: Oid, role: Oid, mode: AclMode) -> pg_sys::AclResult::Type;
        #[cfg(feature = "pg15")]
        fn pg_proc_aclcheck(function: Oid, role: Oid, mode: AclMode) -> pg_sys::AclResult::Type;
        fn RelationIsVisible(table: Oid) -> bool;
        fn VirtualXactLock(transaction: pg_sys::VirtualTransactionId, waits: bool) -> bool;
        fn UnlockRelationOid(table: Oid, mode: pg_sys::LOCKMODE) -> ();
    }
}

pub fn schema_usage(schema: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    let mode = pg_sys::ACL_USAGE as pg_sys::AclMode;
    #[cfg(feature = "pg15")]
    let result = numbers::pg_namespace_aclcheck(schema, role, mode);
    #[cfg(not(feature = "pg15"))]
    let result = numbers::object_aclcheck(pg_sys::NamespaceRelationId, schema, role, mode);
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// Whether `member` can SET ROLE to `role` (before PostgreSQL 16: is a member of it), so that an owner could hand its
/// objects to it.
pub fn may_become(member: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    #[cfg(feature = "pg15")]
    return numbers::is_member_of_role(member, role);
    #[cfg(not(feature = "pg15"))]
    return numbers::member_can_set_role(member, role);
}

/// Checks EXECUTE on the function.
pub fn may_call(function: pg_sys::Oid, role: pg_sys::Oid) -> pg_sys::AclResult::Type {
    let mode = pg_sys::ACL_EXECUTE as pg_sys::AclMode;
    #[cfg(feature = "pg15")]
    return numbers::pg_proc_aclcheck(function, role, mode);
    #[cfg(not(feature = "pg15"))]
    return numbers::object_aclcheck(pg_sys::ProcedureRelationId, function, role, mode);
}

pub fn owns_table(table: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    #[cfg(feature = "pg15")]
    return numbers::pg_class_ownercheck(table, role);
    #[cfg(not(feature = "pg15"))]
    return numbers::object_ownercheck(pg_sys::RelationRelationId, table, role);
}

/// ReleaseTupleDesc, a macro.
///
/// # Safety
/// A descriptor of the type cache.
pub unsafe fn release_desc(desc: pg_sys::TupleDesc) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*desc).tdrefcount >= 0 {
            pg_sys::DecrTupleDescRefCount(desc);
        }
    }
}

/// The `i`th attribute (from 0).
///
/// # Safety
/// `desc` is valid and `i < natts`.
pub unsafe fn attribute(desc: pg_sys::TupleDesc, i: i32) -> *const pg_sys::FormData_pg_attribute {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        return (*desc).attrs.as_ptr().add(i as usize);
        #[cfg(feature = "pg18")]
        return pg_sys::TupleDescAttr(desc, i);
    }
}

/// A small number that identifies this process among all live ones.
pub fn process_number() -> usize {
    // SAFETY: MyProc is set in every process that runs SQL.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return (*pg_sys::MyProc).pgprocno as usize;
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return pg_sys::MyProcNumber as usize;
    }
}

/// Functions without pgrx's guard against ERRORs, which costs a hundred instructions: reads of a backend's own state,
/// which raise nothing, and functions that are called under one guard for several calls. Those that are `safe` read
/// variables of the backend, and raise nothing.
#[allow(non_snake_case, reason = "the server's names")]
pub mod plain {
    use pgrx::pg_sys;

    unsafe extern "C-unwind" {
        pub unsafe fn SPI_execute_plan_extended(
            plan: pg_sys::SPIPlanPtr,
            options: *const pg_sys::SPIExecuteOptions,
        ) -> std::ffi::c_int;
        pub fn ExecScan(
            node: *mut pg_sys::ScanState,
            access: pg_sys::ExecScanAccessMtd,
            recheck: pg_sys::ExecScanRecheckMtd,
        ) -> *mut pg_sys::TupleTableSlot;
        pub fn geterrcode() -> std::ffi::c_int;
        pub fn GetActiveSnapshot() -> pg_sys::Snapshot;
        pub safe fn GetCurrentStatementStartTimestamp() -> pg_sys::TimestampTz;
        pub safe fn GetCurrentTimestamp() -> pg_sys::TimestampTz;
        pub safe fn GetDatabaseEncoding() -> std::ffi::c_int;
        pub safe fn InNoForceRLSOperation() -> bool;
        pub safe fn GetCurrentTransactionStartTimestamp() -> pg_sys::TimestampTz;
        pub safe fn GetTopFullTransactionIdIfAny() -> pg_sys::FullTransactionId;
        pub safe fn GetTopTransactionIdIfAny() -> pg_sys::TransactionId;
        pub safe fn GetUserId() -> pg_sys::Oid;
        pub safe fn IsInParallelMode() -> bool;
        pub safe fn IsTransactionState() -> bool;
        pub safe fn RecoveryInProgress() -> bool;
        pub fn XidInMVCCSnapshot(xid: pg_sys::TransactionId, snapshot: pg_sys::Snapshot) -> bool;

        pub fn CopyErrorData() -> *mut pg_sys::ErrorData;
        pub fn FreeErrorData(error: *mut pg_sys::ErrorData);
        pub fn err_generic_string(field: std::ffi::c_int, text: *const std::ffi::c_char) -> std::ffi::c_int;
        pub fn errcontext_msg(format: *const std::ffi::c_char, ...) -> std::ffi::c_int;
        pub fn errdetail_internal(format: *const std::ffi::c_char, ...) -> std::ffi::c_int;
        pub fn errdetail_log(format: *const std::ffi::c_char, ...) -> std::ffi::c_int;
        pub fn errhidecontext(hide: bool) -> std::ffi::c_int;
        pub fn errhidestmt(hide: bool) -> std::ffi::c_int;
        pub fn errhint(format: *const std::ffi::c_char, ...) -> std::ffi::c_int;
        pub fn errmsg_internal(format: *const std::ffi::c_char, ...) -> std::ffi::c_int;
        pub fn errposition(position: std::ffi::c_int) -> std::ffi::c_int;
        pub fn internalerrposition(position: std::ffi::c_int) -> std::ffi::c_int;
        pub fn internalerrquery(query: *const std::ffi::c_char) -> std::ffi::c_int;
        pub fn set_errcontext_domain(domain: *const std::ffi::c_char) -> std::ffi::c_int;

        pub fn MemoryContextAllocExtended(
            context: pg_sys::MemoryContext,
            size: pg_sys::Size,
            flags: std::ffi::c_int,
        ) -> *mut std::ffi::c_void;
        pub fn pfree(pointer: *mut std::ffi::c_void);
        pub fn MemoryContextRegisterResetCallback(
            context: pg_sys::MemoryContext,
            callback: *mut pg_sys::MemoryContextCallback,
        );
        pub fn HeapTupleSatisfiesVisibility(
            tuple: pg_sys::HeapTuple,
            snapshot: pg_sys::Snapshot,
            buffer: pg_sys::Buffer,
        ) -> bool;
        pub fn LockBuffer(buffer: pg_sys::Buffer, mode: std::ffi::c_int);
        pub fn ReadRecentBuffer(
            file: super::File,
            fork: pg_sys::ForkNumber::Type,
            block: pg_sys::BlockNumber,
            buffer: pg_sys::Buffer,
        ) -> bool;
        pub fn UnlockReleaseBuffer(buffer: pg_sys::Buffer);
    }
}

type NodeWalker = Option<unsafe extern "C-unwind" fn(*mut pg_sys::Node, *mut std::ffi::c_void) -> bool>;

/// Functions that the server exports and pgrx does not bind (catalog/pg_inherits.h, executor/nodeSubplan.h; of
/// nodes/nodeFuncs.h all but 15's).
#[allow(non_snake_case, reason = "the server's names")]
pub mod unbound {
    use pgrx::{pg_guard, pg_sys};

    #[pg_guard]
    unsafe extern "C-unwind" {
        unsafe fn find_inheritance_children(parent: pg_sys::Oid, lockmode: pg_sys::LOCKMODE) -> *mut pg_sys::List;
        unsafe fn SetTuplestoreDestReceiverParams(
            dest: *mut pg_sys::DestReceiver,
            store: *mut pg_sys::Tuplestorestate,
            memory: pg_sys::MemoryContext,
            detoast: bool,
            target: pg_sys::TupleDesc,
            failure: *const std::ffi::c_char,
        );
        unsafe fn has_superclass(relation: pg_sys::Oid) -> bool;
        unsafe fn ExecSetParamPlan(plan: *mut std::ffi::c_void, context: *mut pg_sys::ExprContext);
        #[cfg_attr(feature = "pg15", link_name = "expression_tree_walker")]
        unsafe fn expression_tree_walker_impl(
            node: *mut pg_sys::Node,
            walker: super::NodeWalker,
            context: *mut std::ffi::c_void,
        ) -> bool;
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        unsafe fn BackendIdGetProc(backend: std::ffi::c_int) -> *mut pg_sys::PGPROC;
        unsafe fn TwoPhaseGetXidByVirtualXID(
            vxid: pg_sys::VirtualTransactionId,
            have_more: *mut bool,
        ) -> pg_sys::TransactionId;
    }
}

/// Whether pg_inherits has children of a table.
pub fn has_children(table: pg_sys::Oid) -> bool {
    // SAFETY: a number, which may be any; a palloc'd list of OIDs, NIL (null) when there are none.
    unsafe { !unbound::find_inheritance_children(table, pg_sys::NoLock as pg_sys::LOCKMODE).is_null() }
}

/// Whether pg_inherits has a parent of a table.
pub fn has_superclass(table: pg_sys::Oid) -> bool {
    // SAFETY: a number, which may be any.
    unsafe { unbound::has_superclass(table) }
}

/// The process id behind a virtual transaction; 0 for a prepared one, or one that has ended.
pub fn process_of(transaction: &pg_sys::VirtualTransactionId) -> u32 {
    // SAFETY: looks a process up in the process array; null if it is gone. It may run another transaction by now.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let (process, lxid) = {
            let process = unbound::BackendIdGetProc(transaction.backendId);
            (process, if process.is_null() { 0 } else { (*process).lxid })
        };
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let (process, lxid) = {
            let process = pg_sys::ProcNumberGetProc(transaction.procNumber);
            (process, if process.is_null() { 0 } else { (*process).vxid.lxid })
        };
        if process.is_null() || lxid != transaction.localTransactionId { 0 } else { (*process).pid as u32 }
    }
}

/// The xid of a virtual transaction that is prepared; 0 for any other. One that was prepared before the server's start
/// has its xid in place of a local number, and no process.
pub fn prepared_xid(transaction: &pg_sys::VirtualTransactionId) -> u32 {
    if process_in(transaction) < 0 {
        return transaction.localTransactionId;
    }
    // SAFETY: a function of the server, which looks among prepared transactions under its lock.
    u32::from(unsafe { unbound::TwoPhaseGetXidByVirtualXID(*transaction, &mut false) })
}

/// This process's virtual transaction.
pub fn my_transaction() -> pg_sys::VirtualTransactionId {
    // SAFETY: MyProc is set in every process that runs SQL.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        return pg_sys::VirtualTransactionId {
            backendId: pg_sys::MyBackendId,
            localTransactionId: (*pg_sys::MyProc).lxid,
        };
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        return pg_sys::VirtualTransactionId {
            procNumber: pg_sys::MyProcNumber,
            localTransactionId: (*pg_sys::MyProc).vxid.lxid,
        };
    }
}

/// The number of the process in a virtual transaction.
fn process_in(transaction: &pg_sys::VirtualTransactionId) -> i32 {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    return transaction.backendId;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    return transaction.procNumber;
}

pub fn same_transaction(a: &pg_sys::VirtualTransactionId, b: &pg_sys::VirtualTransactionId) -> bool {
    process_in(a) == process_in(b) && a.localTransactionId == b.localTransactionId
}

/// The virtual transaction that holds a lock, or waits for it.
pub fn owner_of(lock: &pg_sys::LockInstanceData) -> pg_sys::VirtualTransactionId {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    return pg_sys::VirtualTransactionId { backendId: lock.backend, localTransactionId: lock.lxid };
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    return lock.vxid;
}

/// Functions of the server that raise nothing, without pgrx's guard, which costs 20 to 30 ns a call: every row pays for
/// it, and a flush takes eight locks. (They do raise for bugs: more than 200 lightweight locks, the release of one that
/// is not held, a relation that is not open, attributes that a slot's rows do not have.)
pub mod unguarded {
    use pgrx::pg_sys;

    #[allow(non_snake_case, reason = "the server's names")]
    unsafe extern "C-unwind" {
        pub safe fn GetCurrentSubTransactionId() -> pg_sys::SubTransactionId;
        pub safe fn GetCurrentTransactionIdIfAny() -> pg_sys::TransactionId;
        pub safe fn TransactionIdIsCurrentTransactionId(xid: pg_sys::TransactionId) -> bool;
        pub unsafe fn LWLockAcquire(lock: *mut pg_sys::LWLock, mode: pg_sys::LWLockMode::Type) -> bool;
        pub unsafe fn LWLockConditionalAcquire(lock: *mut pg_sys::LWLock, mode: pg_sys::LWLockMode::Type) -> bool;
        pub unsafe fn LWLockRelease(lock: *mut pg_sys::LWLock);
        pub unsafe fn relation_close(relation: pg_sys::Relation, lockmode: pg_sys::LOCKMODE);
        pub unsafe fn slot_getsomeattrs_int(slot: *mut pg_sys::TupleTableSlot, number: std::ffi::c_int);
    }
}

/// The xids that wrote a version of a row and deleted it, if they are not frozen, and it is more than locked.
///
/// # Safety
/// A tuple in a pinned page.
pub unsafe fn writers(tuple: pg_sys::HeapTupleHeader) -> [Option<u32>; 2] {
    let is_normal = |xid: pg_sys::TransactionId| (xid >= pg_sys::FirstNormalTransactionId).then(|| u32::from(xid));
    // SAFETY: the caller's promise.
    unsafe {
        let mask = u32::from((*tuple).t_infomask);
        let frozen = mask & pg_sys::HEAP_XMIN_FROZEN == pg_sys::HEAP_XMIN_FROZEN;
        let xmin = if frozen { None } else { is_normal(pg_sys::htup::HeapTupleHeaderGetRawXmin(tuple)) };
        // As the macro HEAP_XMAX_IS_LOCKED_ONLY.
        let locked = mask & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
            || mask & (pg_sys::HEAP_XMAX_IS_MULTI | pg_sys::HEAP_LOCK_MASK) == pg_sys::HEAP_XMAX_EXCL_LOCK;
        let xmax = if mask & pg_sys::HEAP_XMAX_INVALID != 0 || locked {
            None
        } else if mask & pg_sys::HEAP_XMAX_IS_MULTI != 0 {
            is_normal(pg_sys::HeapTupleGetUpdateXid(tuple))
        } else {
            is_normal((*tuple).t_choice.t_heap.t_xmax)
        };
        [xmin, xmax]
    }
}

/// Whether rows may be removed that a snapshot still sees (`old_snapshot_threshold`, until 16).
pub fn snapshots_expire() -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: reads a setting.
    return unsafe { pg_sys::old_snapshot_threshold } >= 0;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    false
}

/// `object_access_hook`, which is called for each object that is dropped, among others: kind of access, catalog,
/// object, part of it, what the kind says.
pub type ObjectAccessHook = Option<
    unsafe extern "C-unwind" fn(std::ffi::c_int, pg_sys::Oid, pg_sys::Oid, std::ffi::c_int, *mut std::ffi::c_void),
>;

#[allow(non_upper_case_globals, reason = "the server's name")]
unsafe extern "C-unwind" {
    pub static mut object_access_hook: ObjectAccessHook;
}

/// `OAT_DROP` of ObjectAccessType (catalog/objectaccess.h).
pub const OAT_DROP: std::ffi::c_int = 1;

/// MemoryContextReset, but no call for a context that is empty.
///
/// # Safety
/// A memory context; nothing in it is used any more.
pub unsafe fn reset(context: pg_sys::MemoryContext) {
    // SAFETY: the caller's promise.
    unsafe {
        if !(*context).isReset || !(*context).firstchild.is_null() {
            pg_sys::MemoryContextReset(context);
        }
    }
}
