//! The command line, and what the service says when it starts.

use std::net::SocketAddr;

/// What the command line says.
pub(crate) struct Arguments {
    /// The Redis server that all instances share.
    pub(crate) redis: Option<String>,
    /// The port to listen on.
    pub(crate) port: u16,
}

/// Reads the command line; an error is one sentence.
pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut parsed = Arguments { redis: None, port: 3000 };
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.next()) {
            ("--redis", Some(url)) => parsed.redis = Some(url),
            ("--port", Some(port)) => {
                parsed.port = port
                    .parse()
                    .map_err(|_| format!("`{port}` is not a port: expected 0 to 65535"))?;
            }
            ("--redis" | "--port", None) => return Err(format!("{argument} needs a value")),
            _ => {
                return Err(format!(
                    "unknown argument `{argument}`: expected --redis URL or --port PORT"
                ));
            }
        }
    }
    Ok(parsed)
}

/// The lines to try.
pub(crate) fn to_try(address: SocketAddr, shared: bool) -> String {
    let scope = if shared { "all instances on this Redis" } else { "this process" };
    format!(
        r#"Listening on http://{address}, limits hold for {scope}. Try each line a few times:

  curl -i http://{address}/sms/send   --json '{{"phone": "13800000000"}}'   # 3 at once, then 1 in 10 s
  curl -i http://{address}/sms/verify --json '{{"phone": "13800000000"}}'   # 1 in 60 s
  curl -i http://{address}/orders -H 'x-user-id: alice'                   # 5 in 10 s
  curl -i http://{address}/orders                                         # all anonymous users together
  for i in 1 2 3 4 5 6 7; do curl -s -w ' %{{time_total}} s\n' -X POST http://{address}/checkout & done; wait   # 2 a second
"#
    )
}
