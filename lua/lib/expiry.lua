-- The expiry of a key after a refund.
--
-- `expiry(key, life)` returns milliseconds: what is left of the key's expiry. A state needs no
-- longer after a refund than before, and calls with other parameters than the refund's may need it
-- longer than these say. If somebody has removed the expiry, the key gets one for `life`
-- microseconds.
--
-- Needs `spare` (time).

local function expiry(key, life)
  local left = redis.call('PTTL', key)
  if left > 0 then
    return left
  end
  return math.min(math.floor(math.max(life, 0) / 1000) + 2 + spare, 4e15)
end
