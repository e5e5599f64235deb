//! What one attribute per function costs to compile: `cargo bench -p benches --bench compile_time`.
//!
//! Crates of async functions that differ only in their attribute are built side by side, in turns, and
//! the time of a crate with one function is taken off: what is left is milliseconds per function over
//! the same function without an attribute. `FUNCTIONS=100 ROUNDS=1` for a quick look.
#![allow(clippy::indexing_slicing, clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// A kind of function: its name, what the crate depends on, and how its functions are annotated.
struct Kind {
    name: &'static str,
    dependency: &'static str,
    attribute: &'static str,
}

const KINDS: &[Kind] = &[
    Kind { name: "plain", dependency: "", attribute: "" },
    Kind {
        name: "rate_limit",
        dependency: "ratelimit-kit = { path = \"{root}\" }",
        attribute: "#[ratelimit_kit::rate_limit(key = \"'user:' + user\", capacity = 20, refill = 5)]",
    },
    Kind {
        name: "instrument",
        dependency: "tracing = \"0.1\"",
        attribute: "#[tracing::instrument(skip(text), fields(user), err(Debug))]",
    },
    Kind {
        name: "cached",
        dependency: "cached = { version = \"4\", features = [\"async\", \"proc_macro\"] }",
        attribute: "#[cached::macros::cached(ttl_secs = 60, key = \"u64\", convert = r#\"{ user }\"#)]",
    },
];

fn main() {
    // `cargo test --benches` only asks whether this compiles.
    if !env::args().any(|argument| argument == "--bench") {
        return;
    }
    let functions = number("FUNCTIONS", 500);
    let rounds = number("ROUNDS", 3);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.as_path();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compile-time");

    let crates: Vec<(usize, usize, PathBuf)> = (0..KINDS.len())
        .flat_map(|kind| [(kind, 1), (kind, functions)])
        .map(|(kind, count)| (kind, count, write_crate(&folder, root, &KINDS[kind], count)))
        .collect();
    println!("building what the crates depend on ..");
    let crates: Vec<_> = crates
        .into_iter()
        .filter(|(kind, _, path)| {
            let builds = ["check", "build"].iter().all(|command| cargo(command, path).is_some());
            if !builds {
                println!("{} cannot be built here: left out", KINDS[*kind].name);
            }
            builds
        })
        .collect();

    println!("{functions} functions, best of {rounds} rounds, milliseconds per function\n");
    println!("| attribute | check | over plain | build | over plain |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let mut best = vec![[Duration::MAX; 2]; crates.len()];
    for _ in 0..rounds {
        for (index, (_, _, path)) in crates.iter().enumerate() {
            for (command, best) in ["check", "build"].iter().zip(&mut best[index]) {
                if let Some(time) = cargo(command, path) {
                    *best = time.min(*best);
                }
            }
        }
    }
    let per_function = |kind: usize, command: usize| {
        let of = |count| {
            let index = crates.iter().position(|(k, c, _)| (*k, *c) == (kind, count))?;
            Some(best[index][command].as_secs_f64() * 1e3)
        };
        Some((of(functions)? - of(1)?) / f64::from(u32::try_from(functions - 1).ok()?))
    };
    for (kind, described) in KINDS.iter().enumerate() {
        let mut line = format!("| {} |", described.name);
        for command in 0..2 {
            match (per_function(kind, command), per_function(0, command)) {
                (Some(ms), Some(plain)) => {
                    let _ = write!(line, " {ms:.2} | {:.2} |", ms - plain);
                }
                _ => line.push_str(" - | - |"),
            }
        }
        println!("{line}");
    }
}

fn number(variable: &str, default: usize) -> usize {
    env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// A crate with `count` functions of a kind.
fn write_crate(folder: &Path, root: &Path, kind: &Kind, count: usize) -> PathBuf {
    let name = format!("{}-{count}", kind.name.replace('_', "-"));
    let path = folder.join(&name);
    fs::create_dir_all(path.join("src")).unwrap();
    let dependency = kind.dependency.replace("{root}", &root.display().to_string());
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependency}\n\n[workspace]\n"
    );
    let mut source =
        String::from("#![allow(dead_code)]\n#[derive(Debug, Clone)]\npub enum Error { Limited }\n");
    if kind.name == "rate_limit" {
        source.push_str(
            "impl From<ratelimit_kit::RateLimitError> for Error {\n\
             fn from(_: ratelimit_kit::RateLimitError) -> Self { Self::Limited }\n}\n",
        );
    }
    source.push_str(
        "pub async fn work(user: u64, text: String) -> Result<usize, Error> {\n\
         if user == 0 { Err(Error::Limited) } else { Ok(text.len()) }\n}\n",
    );
    for number in 0..count {
        let _ = write!(
            source,
            "{}\npub async fn f{number}(user: u64, text: String) -> Result<usize, Error> {{\n\
             let n = work(user, text).await?;\nOk(n + {number})\n}}\n",
            kind.attribute
        );
    }
    fs::write(path.join("Cargo.toml"), manifest).unwrap();
    fs::write(path.join("src/lib.rs"), source).unwrap();
    path
}

/// How long cargo takes for the crate alone, its dependencies ready; `None` when it fails.
fn cargo(command: &str, path: &Path) -> Option<Duration> {
    let library = path.join("src/lib.rs");
    let source = fs::read(&library).ok()?;
    fs::write(&library, source).ok()?;
    let started = Instant::now();
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([command, "--quiet"])
        .current_dir(path)
        .env("CARGO_TARGET_DIR", path.parent()?.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_BUILD_JOBS", "2")
        .stderr(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| started.elapsed())
}
