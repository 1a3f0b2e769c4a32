//! The executor's node: gets the answer when the first row is fetched, and keeps it until a parameter of the call
//! changes.
//!
//! The rows' values are in the memory of the walk or the recogniser, which then belongs to the node alone and outlives
//! the current row. A caller that keeps a row beyond the next fetch copies it, as the executor requires.

#![expect(unsafe_code, reason = "the executor's interface")]

use crate::call::array::Texts;
use crate::call::fmgr::Rows;
use crate::call::text::Text;
use crate::call::work_memory;
use crate::catalog::attached_table::AttachedTable;
use crate::pg::invalidation::Cached;
use crate::pg::{compat, invalidation, lookup};
use crate::scan::arguments::Argument;
use crate::scan::cursor::Cursor;
use crate::scan::function::{Function, MOST_ARGUMENTS};
use crate::scan::tuple_slot::Columns;
use crate::scan::{Methods, arguments, explain, function, tuple_slot};
use crate::serve::asked::{Question, Reach};
use crate::serve::mentions::Mentions;
use crate::serve::sink::Sink;
use crate::serve::tables::Tables;
use crate::serve::walk::Served;
use crate::serve::{answer, asked, mentions, sink, walk};
use cftrag_core::Walk;
use pgrx::pg_sys::panic::ErrorReportable;
use pgrx::prelude::*;
use std::ffi::c_void;
use std::ptr::null_mut;

static NODES: [Methods<pg_sys::CustomExecMethods>; 2] = [node_of(function::ALL[0]), node_of(function::ALL[1])];

const fn node_of(function: Function) -> Methods<pg_sys::CustomExecMethods> {
    Methods(pg_sys::CustomExecMethods {
        CustomName: function.name().as_ptr(),
        BeginCustomScan: Some(begin),
        ExecCustomScan: Some(run),
        EndCustomScan: Some(end),
        ReScanCustomScan: Some(rescan),
        MarkPosCustomScan: None,
        RestrPosCustomScan: None,
        EstimateDSMCustomScan: None,
        InitializeDSMCustomScan: None,
        ReInitializeDSMCustomScan: None,
        InitializeWorkerCustomScan: None,
        ShutdownCustomScan: None,
        ExplainCustomScan: Some(explain::explain),
    })
}

enum Answer {
    Nothing,
    Context(Box<Walk>),
    Entities(Box<Mentions>),
    /// Rows of the reference query, or rows beyond work_mem.
    Kept(Rows),
}

/// The executor's node and our part of it.
#[repr(C)]
struct Node {
    state: pg_sys::CustomScanState,
    scan: *mut Scan,
}

struct Scan {
    function: Function,
    oid: pg_sys::Oid,
    /// The query's state, which outlives this.
    estate: *mut pg_sys::EState,
    /// Whether the call is of cft_context's form for many entities.
    many: bool,
    arguments: [Argument; MOST_ARGUMENTS],
    /// PARAM_EXEC parameters that the arguments depend on, once computed.
    parameters: Option<*mut pg_sys::Bitmapset>,
    pub columns: Columns,
    /// The type of a whole row as a value; null if the plan does not need it.
    whole: pg_sys::TupleDesc,
    answer: Option<Answer>,
    cursor: Cursor,
    /// The slot for rows read from the tuplestore; null before there are any.
    kept: *mut pg_sys::TupleTableSlot,
    callback: pg_sys::MemoryContextCallback,
}

/// Creates the node, in the query's memory.
#[pg_guard]
pub unsafe extern "C-unwind" fn create(plan: *mut pg_sys::CustomScan) -> *mut pg_sys::Node {
    // SAFETY: zeroes are an empty node.
    unsafe {
        let node = pg_sys::palloc0(size_of::<Node>()).cast::<Node>();
        (*node).state.ss.ps.type_ = pg_sys::NodeTag::T_CustomScanState;
        (*node).state.methods = &NODES[Function::named((*(*plan).methods).CustomName) as usize].0;
        node.cast()
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn begin(state: *mut pg_sys::CustomScanState, estate: *mut pg_sys::EState, _flags: i32) {
    // SAFETY: the executor's arguments; the plan is one of plan.rs. Allocated in the query's memory, which outlives the
    // node's use.
    unsafe {
        let plan = (*state).ss.ps.plan.cast::<pg_sys::CustomScan>();
        let call = call_of(plan);
        may_call((*call).funcid);
        let function = Function::named((*(*plan).methods).CustomName);
        let nodes = crate::scan::arguments::nodes::<pg_sys::Node>((*call).args);
        let mut arguments = [const { Argument::Known(None) }; MOST_ARGUMENTS];
        for (argument, node) in arguments.iter_mut().zip(nodes) {
            *argument = Argument::of(*node, state);
        }
        let columns = Columns::of((*plan).custom_scan_tlist);
        let whole = match columns.all().contains(&0) {
            true => pg_sys::lookup_rowtype_tupdesc_copy((*call).funcresulttype, -1),
            false => null_mut(),
        };
        let scan = Box::into_raw(Box::new(Scan {
            function,
            oid: (*call).funcid,
            estate,
            many: function == Function::Context && pg_sys::exprType(nodes[0]) == pg_sys::TEXTARRAYOID,
            arguments,
            parameters: None,
            columns,
            whole,
            answer: None,
            cursor: Cursor::default(),
            kept: null_mut(),
            callback: pg_sys::MemoryContextCallback::default(),
        }));
        (*scan).callback.func = Some(forget);
        (*scan).callback.arg = scan.cast();
        pg_sys::MemoryContextRegisterResetCallback((*estate).es_query_cxt, &mut (*scan).callback);
        (*state.cast::<Node>()).scan = scan;
    }
}

/// The call in a plan of ours.
///
/// # Safety
/// A plan of plan.rs.
unsafe fn call_of(plan: *mut pg_sys::CustomScan) -> *mut pg_sys::FuncExpr {
    // SAFETY: the caller's promise: the call is the plan's only expression.
    unsafe { arguments::nodes((*plan).custom_exprs)[0] }
}

thread_local! {
    /// The last function that a role may call. PostgreSQL's own check depends on the same catalogs.
    static MAY_CALL: Cached<(pg_sys::Oid, pg_sys::Oid), ()> = const { Cached::new(1, invalidation::catalogs) };
}

/// Checks as PostgreSQL does before it calls a function. 42501 if the user may not call it.
fn may_call(function: pg_sys::Oid) {
    let role = compat::plain::GetUserId();
    let ask = || match compat::may_call(function, role) {
        pg_sys::AclResult::ACLCHECK_OK => Ok(()),
        refused => Err(refused),
    };
    if let Err(refused) = MAY_CALL.with(|last| last.get((function, role), ask)) {
        let name = lookup::function_name(function).unwrap_or_default();
        lookup::refuse(refused, pg_sys::ObjectType::OBJECT_FUNCTION, &name);
    }
    // SAFETY: the hook is another extension's.
    unsafe {
        let hook = pg_sys::object_access_hook;
        if hook.is_some() {
            pg_sys::RunFunctionExecuteHook(function);
        }
    }
}

/// Called when the query's memory is freed, at its end or after an ERROR.
unsafe extern "C-unwind" fn forget(scan: *mut c_void) {
    // SAFETY: made in `begin`, for this callback only, which is called once.
    let scan = unsafe { Box::from_raw(scan.cast::<Scan>()) };
    match scan.answer {
        Some(Answer::Context(walk)) => walk::give_back(walk),
        Some(Answer::Entities(found)) => mentions::give_back(found),
        // A tuplestore is in the query's memory, too.
        _ => {}
    }
}

/// The next row: in the scan's own slot if the plan has no conditions and no projection.
unsafe extern "C-unwind" fn run(state: *mut pg_sys::CustomScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: the executor's argument; an ERROR jumps out of this frame, which owns nothing.
    unsafe {
        let ps = &(*state).ss.ps;
        if ps.qual.is_null() && ps.ps_ProjInfo.is_null() && (*ps.state).es_epq_active.is_null() {
            return next(state.cast());
        }
        compat::plain::ExecScan(state.cast(), Some(next), Some(recheck))
    }
}

/// EvalPlanQual never puts back rows of ours (plan.rs `is_marked`), so its recheck of a row joined to them scans as
/// usual.
unsafe extern "C-unwind" fn recheck(state: *mut pg_sys::ScanState, _slot: *mut pg_sys::TupleTableSlot) -> bool {
    // SAFETY: as in `run`.
    unsafe { u32::from((*next(state)).tts_flags) & pg_sys::TTS_FLAG_EMPTY == 0 }
}

#[pg_guard]
unsafe extern "C-unwind" fn next(state: *mut pg_sys::ScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: our own node; its slot has a column for each of `columns`.
    unsafe {
        let scan = &mut *(*state.cast::<Node>()).scan;
        let slot = (*state).ss_ScanTupleSlot;
        tuple_slot::clear(slot);
        if scan.answer.is_none() {
            scan.answer = Some(scan.ask(state));
        }
        let whole = (!scan.whole.is_null()).then(|| (scan.whole, (*(*state).ps.ps_ExprContext).ecxt_per_tuple_memory));
        let forward = (*(*state).ps.state).es_direction == pg_sys::ScanDirection::ForwardScanDirection;
        match &scan.answer {
            Some(Answer::Context(walk)) => {
                if let Some(row) = scan.cursor.step(walk.rows().len(), forward) {
                    tuple_slot::fill(slot, &tuple_slot::InWalk(walk, &walk.rows()[row]), scan.columns.all(), whole);
                }
            }
            Some(Answer::Entities(found)) => {
                if let Some(row) = scan.cursor.step(found.len(), forward) {
                    tuple_slot::fill(slot, &tuple_slot::InText::of(found, row), scan.columns.all(), whole);
                }
            }
            Some(Answer::Kept(rows)) if pg_sys::tuplestore_gettupleslot(rows.store(), forward, false, scan.kept) => {
                tuple_slot::copy(slot, scan.kept, scan.columns.all(), whole);
            }
            _ => {}
        }
        slot
    }
}

impl Scan {
    /// The PARAM_EXEC parameters that the arguments depend on, computed once.
    ///
    /// # Safety
    /// This scan's node.
    unsafe fn parameters(&mut self, state: *mut pg_sys::CustomScanState) -> *mut pg_sys::Bitmapset {
        *self.parameters.get_or_insert_with(|| {
            // SAFETY: the caller's promise; allocated in memory that lives as long as the node.
            unsafe {
                let ps = &(*state).ss.ps;
                let before = pg_sys::MemoryContextSwitchTo((*ps.state).es_query_cxt);
                let found = arguments::parameters((*call_of(ps.plan.cast())).args);
                pg_sys::MemoryContextSwitchTo(before);
                found
            }
        })
    }

    /// Evaluates the arguments and gets the answer, in memory that is reset for the next row.
    ///
    /// # Safety
    /// This scan's node, running.
    unsafe fn ask(&mut self, state: *mut pg_sys::ScanState) -> Answer {
        // SAFETY: the caller's promise. After an ERROR the abort resets the memory context.
        unsafe {
            let context = (*state).ps.ps_ExprContext;
            let memory = (*context).ecxt_per_tuple_memory;
            compat::reset(memory);
            let before = pg_sys::MemoryContextSwitchTo(memory);
            let mut values = [None; MOST_ARGUMENTS];
            values.iter_mut().zip(&self.arguments).for_each(|(value, argument)| *value = argument.value(context));
            let answer = if pg_sys::pgstat_track_functions == pg_sys::TrackFunctionsLevel::TRACK_FUNC_ALL as i32 {
                let mut info = pg_sys::FmgrInfo {
                    fn_oid: self.oid,
                    fn_stats: pg_sys::TrackFunctionsLevel::TRACK_FUNC_PL as u8,
                    ..Default::default()
                };
                let mut call = pg_sys::FunctionCallInfoBaseData { flinfo: &mut info, ..Default::default() };
                let mut usage = pg_sys::PgStat_FunctionCallUsage::default();
                pg_sys::pgstat_init_function_usage(&mut call, &mut usage);
                let answer = self.answer_to(values);
                pg_sys::pgstat_end_function_usage(&mut usage, true);
                answer
            } else {
                self.answer_to(values)
            };
            pg_sys::MemoryContextSwitchTo(before);
            answer
        }
    }

    /// # Safety
    /// Values of the arguments' types.
    unsafe fn answer_to(&mut self, values: [Option<pg_sys::Datum>; MOST_ARGUMENTS]) -> Answer {
        // SAFETY: the caller's promise; they live as long as this memory, in which they were made.
        unsafe {
            let text = |value| Text::here(value);
            let array = |value: Option<_>| value.map(|value| Texts::of(text(value)));
            match (self.function, values) {
                (Function::Context, [Some(entity), Some(up), Some(down), edges, trees, ..]) => {
                    let (entity, trees) = (text(entity), array(trees));
                    let reach = Reach { trees, ..Reach::levels(up.value() as i32, down.value() as i32) };
                    self.context(entity, reach, edges.map(oid))
                }
                (Function::Entities, [Some(text_value), edges, trees, within, Some(overlapping), matching, narrow]) => {
                    let matching = asked::matching(matching.map(|name| text(name).bytes())).unwrap_or_report();
                    let narrow = narrow.is_some_and(|narrow| narrow.value() != 0);
                    let (text, overlapping) = (text(text_value), overlapping.value() != 0);
                    let (trees, within) = (array(trees), array(within));
                    let question = Question { text, trees, within, overlapping, once: false, matching, narrow };
                    self.entities(question, edges.map(oid))
                }
                _ => Answer::Nothing,
            }
        }
    }

    /// Answers as cft_context does (src/serve/walk.rs).
    ///
    /// # Safety
    /// `entity` is a text, or a text[].
    unsafe fn context(&mut self, entity: Text<'_>, reach: Reach, edges: Option<pg_sys::Oid>) -> Answer {
        let (one, several);
        let names: &[&[u8]] = if self.many {
            // SAFETY: the caller's promise.
            several = unsafe { Texts::of(entity) }.names().unwrap_or_report();
            &several
        } else {
            one = [entity.bytes()];
            &one
        };
        answer::check_levels(reach).unwrap_or_report();
        let opened = AttachedTable::of(self.oid, edges).unwrap_or_report();
        if !self.many && self.arguments[0].is_given() {
            answer::check_given(&opened, names[0]).unwrap_or_report();
        }
        if opened.open_label_table().unwrap_or_report().is_some() {
            let rows = self.store();
            answer::answer_of(&opened, names, reach, &mut Sink::Rows(rows)).unwrap_or_report();
            return read(rows);
        }
        let mut walk = crate::serve::walk::workspace().unwrap_or_report();
        walk.answer_labels(opened.columns.has_labels());
        let mut kept: Option<Rows> = None;
        let mut store = || *kept.get_or_insert_with(|| self.store());
        let part = |walk: &mut Walk| sink::emit(walk, store());
        let taken = match crate::serve::walk::walk_from(&opened, names, reach, &mut walk, part).unwrap_or_report() {
            Served::All(ticket) if kept.is_none() && walk.answer_bytes() <= work_memory::work_mem() => {
                sink::finish(&mut walk).unwrap_or_report();
                crate::serve::walk::served(&opened, &ticket, walk.counters());
                return Answer::Context(walk);
            }
            Served::All(ticket) => {
                let rows = kept.unwrap_or_else(|| self.store());
                sink::emit(&mut walk, rows).unwrap_or_report();
                crate::serve::walk::served(&opened, &ticket, walk.counters());
                crate::serve::walk::give_back(walk);
                return read(rows);
            }
            Served::Only(taken) => taken,
        };
        crate::serve::walk::give_back(walk);
        let rows = kept.unwrap_or_else(|| self.store());
        crate::serve::walk::by_reference(&opened, &names[taken..], reach, &mut Sink::Rows(rows)).unwrap_or_report();
        read(rows)
    }

    /// Answers as cft_entities does (src/serve/mentions.rs).
    fn entities(&mut self, question: Question, edges: Option<pg_sys::Oid>) -> Answer {
        let text = question.text.bytes();
        let tables = Tables::open(self.oid, edges, question.matching).unwrap_or_report();
        let mut found = mentions::workspace();
        if tables.find(&question, &mut found).unwrap_or_report() {
            found.spell(text, self.columns.has_mention()).unwrap_or_report();
            return Answer::Entities(found);
        }
        mentions::give_back(found);
        let rows = self.store();
        tables.by_reference(&question, rows);
        read(rows)
    }

    /// A tuplestore that lives as long as the query.
    fn store(&mut self) -> Rows {
        // SAFETY: the query runs; the row type is the function's.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo((*self.estate).es_query_cxt);
            if self.kept.is_null() {
                let desc = pg_sys::lookup_rowtype_tupdesc_copy(lookup::get_func_rettype(self.oid), -1);
                self.kept = pg_sys::ExecInitExtraTupleSlot(self.estate, desc, &raw const pg_sys::TTSOpsMinimalTuple);
            }
            let store = pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem);
            pg_sys::MemoryContextSwitchTo(before);
            Rows::of(store, (*self.kept).tts_tupleDescriptor)
        }
    }

    /// # Safety
    /// No row of the answer is used any more.
    unsafe fn drop_answer(&mut self) {
        match self.answer.take() {
            Some(Answer::Context(walk)) => crate::serve::walk::give_back(walk),
            Some(Answer::Entities(found)) => mentions::give_back(found),
            // SAFETY: the caller's promise; made in `store`.
            Some(Answer::Kept(rows)) => unsafe { pg_sys::tuplestore_end(rows.store()) },
            _ => {}
        }
    }
}

/// Reads the tuplestore from its start.
fn read(rows: Rows) -> Answer {
    rows.rewind();
    Answer::Kept(rows)
}

fn oid(value: pg_sys::Datum) -> pg_sys::Oid {
    pg_sys::Oid::from(value.value() as u32)
}

#[pg_guard]
unsafe extern "C-unwind" fn rescan(state: *mut pg_sys::CustomScanState) {
    // SAFETY: our own node; its rows are no longer in use.
    unsafe {
        let scan = &mut *(*state.cast::<Node>()).scan;
        pg_sys::ExecScanReScan(state.cast());
        let changed = (*state).ss.ps.chgParam;
        if !changed.is_null() && pg_sys::bms_overlap(changed, scan.parameters(state)) {
            scan.drop_answer();
        }
        scan.cursor = Cursor::default();
        if let Some(Answer::Kept(rows)) = scan.answer {
            rows.rewind();
        }
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn end(state: *mut pg_sys::CustomScanState) {
    // SAFETY: our own node, which returns no more rows. The executor clears the slots.
    unsafe { (*(*state.cast::<Node>()).scan).drop_answer() };
}
