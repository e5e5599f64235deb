//! Processes that never outlive the test.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread;

/// A running process; dropping it kills it, by its id, and waits for its end.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    /// Starts a command that was made by [`guarded`].
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        command.stdin(Stdio::null());
        on_lasting_thread(command).map(Self)
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().ok().flatten()
    }

    /// Waits for its end, which it comes to by itself.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }

    /// Sends a signal by name, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        // A shell has `kill` built in; a program of that name is not on every machine.
        let kill = format!("kill -{name} {}", self.id());
        assert!(
            Command::new("sh").args(["-c", &kill]).status().unwrap().success(),
            "{kill} failed"
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command whose process the kernel kills when we die without having said good-bye.
/// (`prctl(PR_SET_PDEATHSIG)`, which is unsafe code from here and a plain program this way.)
pub(crate) fn guarded(program: &Path) -> Command {
    const SETPRIV: &str = "/usr/bin/setpriv";
    if !Path::new(SETPRIV).exists() {
        return Command::new(program);
    }
    let mut command = Command::new(SETPRIV);
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// The kernel's "parent" is the thread that started a process, and threads of tests end early:
/// all processes are started from one thread that lasts.
fn on_lasting_thread(command: Command) -> io::Result<Child> {
    type Job = (Command, Sender<io::Result<Child>>);
    static STARTER: OnceLock<Sender<Job>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (send, jobs) = mpsc::channel::<Job>();
        thread::Builder::new()
            .name("process starter".to_owned())
            .spawn(move || {
                for (mut command, reply) in jobs {
                    let _ = reply.send(command.spawn());
                }
            })
            .unwrap();
        send
    });
    let (send, child) = mpsc::channel();
    starter.send((command, send)).unwrap();
    child.recv().unwrap()
}
