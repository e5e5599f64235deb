//! nginx, from Debian's packages.

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use crate::lacking;
use crate::port::Port;
use crate::process::{Process, guarded};
use crate::scratch::Scratch;
use crate::wait::until_ok;

/// Not in everybody's `PATH`.
const PROGRAM: &str = "/usr/sbin/nginx";

/// An nginx of its own on a free port of the loopback interface.
#[derive(Debug)]
pub struct Nginx {
    // Before what it uses.
    _process: Process,
    port: Port,
    _scratch: Scratch,
}

impl Nginx {
    /// Starts one with this in its `http` block, and waits until it accepts connections. `listen 80;` becomes
    /// the free port.
    pub fn start(http: &str) -> Self {
        if !Path::new(PROGRAM).exists() {
            lacking::end("there is no nginx");
        }
        let port = Port::free();
        let scratch = Scratch::new();
        let dir = scratch.path().display();
        let listen = format!("listen 127.0.0.1:{};", port.number());
        assert!(http.contains("listen 80;"), "{http}");
        let http = http.replace("listen 80;", &listen);
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|what| format!("{what}_temp_path {dir}/{what};"))
            .join("\n");
        // One process, which is the one that we end.
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid {dir}/pid;\nerror_log {dir}/error.log;\n\
             events {{}}\nhttp {{\naccess_log off;\n{temporary}\n{http}\n}}\n"
        );
        let file = scratch.path().join("nginx.conf");
        fs::write(&file, configuration).unwrap();
        let mut command = guarded(Path::new(PROGRAM));
        command.arg("-p").arg(scratch.path()).arg("-c").arg(&file);
        command.arg("-e").arg(scratch.path().join("error.log"));
        let mut process = Process::start(command).unwrap();
        let answers = until_ok(|| {
            assert!(process.ended().is_none(), "nginx ended: {}", log(&scratch));
            TcpStream::connect(("127.0.0.1", port.number()))
        });
        answers.unwrap_or_else(|e| panic!("nginx does not answer ({e}): {}", log(&scratch)));
        Self { _process: process, port, _scratch: scratch }
    }

    /// Where it listens on the loopback interface.
    pub fn port(&self) -> u16 {
        self.port.number()
    }
}

fn log(scratch: &Scratch) -> String {
    fs::read_to_string(scratch.path().join("error.log")).unwrap_or_default()
}
