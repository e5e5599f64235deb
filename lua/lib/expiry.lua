-- How long a key lives whose state a give-back replaces.
--
-- `expiry(key, life)` returns milliseconds: what is left of the key's expiry, since a state from
-- which a charge is taken needs no longer than before, and other numbers than those of the charge
-- may need it longer than these say. A key that somebody made to stay for ever gets one for `life`
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
