-- Decides nothing: gives back what one call was charged, because the whole of which it was a part
-- is refused, or because its caller left before it could run.
--
-- KEYS[1]  the state
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check, as it was charged (lib/<algorithm>.lua)
-- ARGV[3]  the instant of the charge: the `last` of the reply to it. What follows is not read
-- ARGV[4]  until when the call is certain to wait for its turn in a leaky bucket; left out if it
--          does not wait
-- Returns  1, or 0 if the charge stands

local givers = {
  t = give_back_token_bucket,
  l = give_back_leaky_bucket,
  f = give_back_fixed_window,
  s = give_back_sliding_log,
  c = give_back_sliding_counter,
}

local kind, at = string.lower(string.sub(ARGV[2], 1, 1)), struct.unpack('<I8', ARGV[3])
local in_line_until = ARGV[4] and struct.unpack('<I8', ARGV[4])
return givers[kind](KEYS[1], ARGV[2], at, in_line_until)
