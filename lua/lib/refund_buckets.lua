-- Refunds a charge of a token bucket or a leaky bucket.
--
-- Check and state are those of lib/token_bucket.lua and lib/leaky_bucket.lua; `at` is the instant
-- of the charge. Returns 1, or 0 if the charge stands.
--
-- Had the call not been charged, the bucket might have been full (or empty) since, and what the
-- rate moved would have been lost: so what it has moved between this charge and the latest one is
-- not refunded. What it moves later fits in or not by itself.
--
-- A call that is still in the queue of a leaky bucket is refunded in full: nobody takes its turn,
-- and later calls come sooner by it. Turns that were promised to others stay. Once its turn has
-- come, which may be before the caller's clock says so, its charge has leaked.
--
-- Needs `now` (time), `muldiv`, `read_bucket` (bucket), `expiry`.

-- What a bucket holds: last, permits, parts. Nothing if the charge cannot be in there: it is of
-- another rate or a later instant, or a clock has been reset since.
local function read_charged(key, at, unit, recovery)
  local _, last, written, permits, parts = read_bucket(key)
  if last and written == unit and last >= at and last - now <= recovery then
    return last, permits, parts
  end
end

-- What of `cost` may still be missing after `elapsed` microseconds: permits, and parts of one more.
local function still_missing(cost, gain, unit, elapsed)
  local permits, parts = muldiv(elapsed, gain, unit)
  permits, parts = cost - permits, -parts
  if parts < 0 then
    permits, parts = permits - 1, parts + unit
  end
  return permits, parts
end

local function write_refunded(key, last, unit, permits, parts, recovery)
  local new = struct.pack('<I8I8I8I8', last, unit, permits, parts)
  redis.call('SET', key, new, 'PX', expiry(key, last - now + recovery))
  return 1
end

local function refund_token_bucket(key, check, at)
  local cost, capacity, gain, unit, full = struct.unpack('<I8I8I8I8I8', check, 2)
  local last, tokens, parts = read_charged(key, at, unit, full)
  if not last then
    return 0
  end
  local more, more_parts = still_missing(cost, gain, unit, last - at)
  if more < 0 then
    return 0
  end
  tokens, parts = tokens + more, parts + more_parts
  if parts >= unit then
    tokens, parts = tokens + 1, parts - unit
  end
  if tokens > capacity or (tokens == capacity and parts > 0) then
    -- The charge is not in there.
    return 0
  end
  return write_refunded(key, last, unit, tokens, parts, full)
end

local function refund_leaky_bucket(key, check, at, queued_until)
  local cost, _, gain, unit, empty = struct.unpack('<I8I8I8I8I8', check, 2)
  local last, level, parts = read_charged(key, at, unit, empty)
  if not last or (queued_until and now > queued_until) then
    return 0
  end
  local less, less_parts = cost, 0
  if not queued_until then
    less, less_parts = still_missing(cost, gain, unit, last - at)
  end
  if less < 0 then
    return 0
  end
  level, parts = level - less, parts - less_parts
  if parts < 0 then
    level, parts = level - 1, parts + unit
  end
  if level < 0 and queued_until then
    -- Others in front of it have left, and the queue is shorter than its place.
    level, parts = 0, 0
  elseif level < 0 then
    -- The charge is not in there.
    return 0
  end
  return write_refunded(key, last, unit, level, parts, empty)
end
