//! Compiles the published C++ cuckoo filter if `CUCKOOFILTER` names its checkout. This repository has none of its code.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(published)");
    println!("cargo::rerun-if-env-changed=CUCKOOFILTER");
    println!("cargo::rerun-if-changed=src/published.cc");
    let Ok(checkout) = std::env::var("CUCKOOFILTER") else { return };
    let source = Path::new(&checkout).join("src");
    assert!(source.join("cuckoofilter.h").exists(), "no {}/cuckoofilter.h", source.display());
    println!("cargo::rerun-if-changed={}", source.display());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let object = out.join("published.o");
    // The flags of its own Makefile, without those for this processor, because our code is compiled for any processor.
    run(Command::new("c++")
        .args(["-O3", "-DNDEBUG", "-fno-strict-aliasing", "-std=c++11", "-fPIC", "-c", "src/published.cc", "-o"])
        .arg(&object)
        .arg("-I")
        .arg(&source));
    run(Command::new("ar").arg("crs").arg(out.join("libpublished.a")).arg(&object));
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=static=published");
    println!("cargo::rustc-link-lib=stdc++");
    println!("cargo::rustc-cfg=published");
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
