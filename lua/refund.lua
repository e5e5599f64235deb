-- Decides nothing: refunds what one call was charged, because the list of calls of which it was a
-- part is refused, or because its caller left before it could run.
--
-- KEYS[1]  the state
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check, as it was charged (lib/<algorithm>.lua)
-- ARGV[3]  the instant of the charge: the `last` of the reply to it. What follows is not read
-- ARGV[4]  until when the call is certain to be in the queue of a leaky bucket; left out if it is
--          in none
-- Returns  1, or 0 if the charge stands

local refunds = {
  t = refund_token_bucket,
  l = refund_leaky_bucket,
  f = refund_fixed_window,
  s = refund_sliding_log,
  c = refund_sliding_counter,
}

local kind, at = string.lower(string.sub(ARGV[2], 1, 1)), struct.unpack('<I8', ARGV[3])
local queued_until = ARGV[4] and struct.unpack('<I8', ARGV[4])
return refunds[kind](KEYS[1], ARGV[2], at, queued_until)
