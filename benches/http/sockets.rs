//! Over sockets. Server and clients are one process on one machine, so the numbers say how the cases
//! compare, and not what axum can do.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::Router;
use test_support::Load;

use super::{as_f64, cases};

const ROUNDS: usize = 40;
const ROUND: Duration = Duration::from_millis(250);
const CONNECTIONS: usize = 16;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Serves on a thread of its own, for as long as the program runs.
fn serve(router: Router) -> Result<SocketAddr> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
        })
    });
    Ok(address)
}

/// What was measured of a case.
struct Measured {
    name: &'static str,
    address: SocketAddr,
    /// Requests in each round.
    rounds: Vec<usize>,
    /// What all rounds took of the processors, server and clients together, in hundredths of a second.
    ticks: usize,
}

pub(super) fn print() -> Result<()> {
    let mut cases_measured = Vec::new();
    for (name, router) in cases::all()? {
        let address = serve(router)?;
        cases_measured.push(Measured { name, address, rounds: Vec::new(), ticks: 0 });
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    for round in 0..=ROUNDS {
        for case in &mut cases_measured {
            let load = Load::new(case.address, "/").connections(CONNECTIONS).lasts(ROUND);
            let before = ticks()?;
            let requests = runtime.block_on(load.run()).total(200);
            // The first round warms up.
            if round > 0 {
                case.rounds.push(requests);
                case.ticks += ticks()? - before;
            }
        }
    }
    let Some(bare) = cases_measured.first() else { return Ok(()) };
    println!(
        "{CONNECTIONS} connections, {ROUNDS} rounds of {ROUND:?}, median of the rounds' ratios\n"
    );
    println!("| handler | requests/s | of bare | CPU/request | of bare |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for case in &cases_measured {
        let per_second = median(case.rounds.iter().map(|n| as_f64(*n) / ROUND.as_secs_f64()));
        let ratios = case.rounds.iter().zip(&bare.rounds);
        let ratio = median(ratios.map(|(case, bare)| as_f64(*case) / as_f64(*bare)));
        let (cpu, cpu_of_bare) = (case.cpu_us(), bare.cpu_us());
        println!(
            "| {} | {per_second:.0} | {ratio:.3} | {cpu:.2} µs | {:.3} |",
            case.name,
            cpu_of_bare / cpu
        );
    }
    Ok(())
}

impl Measured {
    /// Microseconds of a processor for one request.
    fn cpu_us(&self) -> f64 {
        as_f64(self.ticks) * 10_000.0 / as_f64(self.rounds.iter().sum())
    }
}

/// The time that this process has had on processors: also right when others work on the machine.
fn ticks() -> Result<usize> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, after_name) = stat.rsplit_once(')').ok_or("a line of /proc")?;
    let (user, system) = (after_name.split(' ').nth(12), after_name.split(' ').nth(13));
    let (user, system) = user.zip(system).ok_or("times in /proc")?;
    Ok(user.parse::<usize>()? + system.parse::<usize>()?)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
