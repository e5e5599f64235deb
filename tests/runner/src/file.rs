//! Reading folders of vector files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::scenario::{Scenario, Written};

/// Reads every `*.json` file of a folder, in the order of their names. The error is one sentence
/// that names the file.
pub fn read(dir: &Path) -> Result<Vec<Scenario>, String> {
    let files = json_files(dir)?;
    if files.is_empty() {
        return Err(format!("there are no vectors (*.json) in {}", dir.display()));
    }
    let mut all = Vec::new();
    let mut ids = HashSet::new();
    for file in files {
        for scenario in read_file(&file).map_err(|why| format!("{}: {why}", file.display()))? {
            if !ids.insert(scenario.id.clone()) {
                return Err(format!("{}: there are two scenarios {}", file.display(), scenario.id));
            }
            all.push(scenario);
        }
    }
    Ok(all)
}

fn json_files(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(dir).map_err(|e| format!("cannot read {}: {e}", dir.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| format!("cannot read {}: {e}", dir.display()))?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_file(file: &Path) -> Result<Vec<Scenario>, String> {
    let text = fs::read_to_string(file).map_err(|e| e.to_string())?;
    parse(&text)
}

pub(crate) fn parse(text: &str) -> Result<Vec<Scenario>, String> {
    let written: Vec<Written> = serde_json::from_str(text).map_err(|e| e.to_string())?;
    written.into_iter().map(Written::check).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn error(algo: &str, params: &str, calls: &str) -> String {
        let text = format!(r#"[{{"id": "x", "algo": "{algo}", "params": {params}, {calls}}}]"#);
        parse(&text).unwrap_err()
    }

    #[test]
    fn slips_are_errors() {
        let window = r#"{"limit": 1, "window_ms": 5}"#;
        let step = |fields: &str| format!(r#""steps": [{{"at_ms": 0, "cost": 1}}, {{{fields}}}]"#);
        let of = |fields: &str| error("fixed_window", window, &step(fields));

        assert!(of(r#""at_ms": 0, "cost": 1, "remainig": 3"#).contains("unknown field `remainig`"));
        assert!(of(r#""at_us": 0, "cost": 1"#).contains("step 2 has another unit of time"));
        assert!(of(r#""cost": 1"#).contains("step 2 needs one of"));
        assert!(of(r#""at_ms": 0, "cost": -1"#).contains("invalid value"));
        assert!(error("fixed_window", window, r#""steps": []"#).contains("no steps"));
        assert!(error("fixed_window", window, r#""load": []"#).contains("needs either `steps`"));
        assert!(error("fixed", window, &step(r#""at_ms": 0, "cost": 1"#)).contains("`fixed`"));
        let params = r#"{"limit": 1, "window_ms": 5, "capacity": 1}"#;
        let extra = error("sliding_log", params, &step(r#""at_ms": 0, "cost": 1"#));
        assert_eq!(extra, "scenario x: sliding_log takes no `capacity`");
        let missing = error("sliding_log", r#"{"limit": 1}"#, &step(r#""at_ms": 0, "cost": 1"#));
        assert_eq!(missing, "scenario x: `window_ms` is missing");
    }
}
