-- Settings of luacheck, for the pieces and for the scripts that are composed of them. In this folder:
--
--   cargo run -p ratelimit-lua --example compose -- DIR && luacheck . DIR
--
-- In a composed script everything counts. A piece alone uses what other pieces define, and defines
-- what it does not use itself.

std = 'lua51'
read_globals = {'redis', 'struct', 'KEYS', 'ARGV'}
max_line_length = 100

local defined = {
  'now', 'spare', 'muldiv', 'commit', 'expiry', 'read_bucket',
  'judge_token_bucket', 'judge_leaky_bucket', 'judge_fixed_window', 'judge_sliding_log',
  'judge_sliding_counter',
  'refund_token_bucket', 'refund_leaky_bucket', 'refund_fixed_window', 'refund_sliding_log',
  'refund_sliding_counter',
}
files['*.lua'] = {read_globals = defined}
files['lib/*.lua'] = {read_globals = defined, ignore = {'211'}}
files['lib/time.lua'] = {ignore = {'231', '311'}}
