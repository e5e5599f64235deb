-- The instant at which a call is judged.
--
-- ARGV[1]  whole microseconds since the epoch, or '' for the server's clock.
--
-- Defines `now`, that instant, and `spare`, the milliseconds by which every expiry is longer than
-- the state needs: expiries run on the server's clock, and a caller's clock may differ from it.

local now, spare = ARGV[1], 60000
if now == '' then
  local time = redis.call('TIME')
  now, spare = time[1] * 1000000 + time[2], 0
else
  now = tonumber(now)
end
