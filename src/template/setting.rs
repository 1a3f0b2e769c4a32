//! cftrag.template and cftrag.prompt_template: a setting is checked as a template when it is set.

#![expect(unsafe_code, reason = "hooks of settings")]

use crate::guc::{PROMPT_TEMPLATE, TEMPLATE};
use crate::template;
use pgrx::{GucContext, GucFlags, GucRegistry, pg_guard, pg_sys};
use std::ffi::{CStr, CString, c_char, c_void};

pub fn define() {
    let templates = [
        (c"cftrag.template", c"Sets the template of cft_context_text.", &TEMPLATE),
        (c"cftrag.prompt_template", c"Sets the template of cft_prompt.", &PROMPT_TEMPLATE),
    ];
    for (name, short, setting) in templates {
        // SAFETY: the hook is a guarded function that reads the value it is given.
        unsafe {
            GucRegistry::define_string_guc_with_hooks(
                name,
                short,
                c"Empty: the built-in form. A small part of Jinja: values, for, if, and the filters join, length, first, last, upper, lower.",
                setting,
                GucContext::Userset,
                GucFlags::default(),
                Some(check_template),
                None,
                None,
            );
        }
    }
}

/// Refuses what is no template.
#[pg_guard]
unsafe extern "C-unwind" fn check_template(
    value: *mut *mut c_char,
    _extra: *mut *mut c_void,
    _source: pg_sys::GucSource::Type,
) -> bool {
    // SAFETY: `value` points to the new value, a C string or null.
    let text = unsafe { if (*value).is_null() { c"" } else { CStr::from_ptr(*value) } };
    // In another encoding than UTF-8 it is checked when it is used.
    let Ok(text) = text.to_str() else { return true };
    let Err(why) = (if text.is_empty() { Ok(()) } else { template::check(text) }) else { return true };
    let Ok(detail) = CString::new(format!("{}.", why.trim_end_matches('.'))) else { return false };
    // SAFETY: the detail is a copy in the memory context of the check; the setting's machinery reads it.
    unsafe { pg_sys::GUC_check_errdetail_string = pg_sys::pstrdup(detail.as_ptr()) };
    false
}
