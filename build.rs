//! Records where libtorch lies: in the binary's run path, so that it starts from any folder, and as text for `doctor`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    for (name, source) in [("COORL_TARGET", "TARGET"), ("COORL_PROFILE", "PROFILE")] {
        let value = env::var(source).unwrap_or_default();
        println!("cargo::rustc-env={name}={value}");
    }
    let Some(root) = env::var_os("LIBTORCH").map(PathBuf::from) else {
        println!(
            "cargo::error=LIBTORCH is not set and .cargo/config.toml was not read: build from the clone's own folder"
        );
        return;
    };
    if !root.join("lib").is_dir() {
        println!(
            "cargo::error=libtorch not found at {}: run `make setup`, or set LIBTORCH to an unpacked libtorch 2.11.0",
            root.display()
        );
        return;
    }
    record_libtorch(&root);
}

/// The link `.libtorch` comes first in the run path, so that switching it between the CPU and the CUDA libraries needs no rebuild;
/// where it points now comes second, so that the binary outlives this clone.
fn record_libtorch(root: &Path) {
    let resolved = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut folders = vec![root, &resolved];
    folders.dedup();
    for folder in folders {
        println!(
            "cargo::rustc-link-arg=-Wl,-rpath,{}",
            folder.join("lib").display()
        );
    }
    println!("cargo::rustc-env=COORL_LIBTORCH={}", resolved.display());
    println!(
        "cargo::rustc-env=COORL_LIBTORCH_VERSION={}",
        header_version(&resolved)
    );
    println!(
        "cargo::rerun-if-changed={}",
        resolved
            .join("include/torch/headeronly/version.h")
            .display()
    );
}

/// The version the headers state, as `2.11.0`; empty if they state none.
fn header_version(root: &Path) -> String {
    let header =
        fs::read_to_string(root.join("include/torch/headeronly/version.h")).unwrap_or_default();
    let part = |name: &str| {
        header
            .lines()
            .find_map(|line| {
                line.strip_prefix("#define TORCH_VERSION_")?
                    .strip_prefix(name)
            })
            .map(str::trim)
    };
    match (part("MAJOR"), part("MINOR"), part("PATCH")) {
        (Some(major), Some(minor), Some(patch)) => format!("{major}.{minor}.{patch}"),
        _ => String::new(),
    }
}
