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
  'now', 'spare', 'muldiv', 'commit', 'expiry',
  'judge_token_bucket', 'judge_leaky_bucket', 'judge_fixed_window', 'judge_sliding_log',
  'judge_sliding_counter',
  'give_back_token_bucket', 'give_back_leaky_bucket', 'give_back_fixed_window',
  'give_back_sliding_log', 'give_back_sliding_counter',
}
files['*.lua'] = {read_globals = defined}
files['lib/*.lua'] = {read_globals = defined, ignore = {'211'}}
files['lib/time.lua'] = {ignore = {'231', '311'}}
