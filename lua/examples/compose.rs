//! Writes the composed scripts into a folder, to lint or to read them.
//!
//! ```text
//! cargo run -p ratelimit-lua --example compose -- DIR
//! ```

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(std::io::Error::other("usage: compose DIR"));
    };
    std::fs::create_dir_all(&folder)?;
    for script in ratelimit_lua::ALL {
        std::fs::write(folder.join(script.name).with_extension("lua"), script.source)?;
    }
    Ok(())
}
