-- Gives a charge back to a token bucket or a leaky bucket.
--
-- Check and state are those of lib/token_bucket.lua and lib/leaky_bucket.lua; `at` is the instant
-- of the charge. Returns 1, or 0 if the charge stands.
--
-- Had the call not been charged, the bucket might have been full since, and what came in would have
-- been lost: so what the rate has moved between this charge and the latest one is not given back.
-- What it moves later fits in or not by itself.
--
-- A call that is still in the line of a leaky bucket is given back in full: its turn is one that
-- nobody takes, and later calls come sooner by it. Turns that were promised to others stay. Once
-- its turn has come, which may be before the caller's clock says so, its charge has leaked.
--
-- Needs `now` (time), `muldiv`, `expiry`.

-- What of `cost` may still be missing after so many microseconds: permits, and parts of one more.
local function still_missing(cost, gain, unit, elapsed)
  local permits, parts = muldiv(elapsed, gain, unit)
  permits, parts = cost - permits, -parts
  if parts < 0 then
    permits, parts = permits - 1, parts + unit
  end
  return permits, parts
end

local function give_back_token_bucket(key, check, at)
  local cost, capacity, gain, unit, full = struct.unpack('<I8I8I8I8I8', check, 2)
  local state = redis.pcall('GET', key)
  if not state or #state ~= 32 then
    return 0
  end
  local last, written, tokens, parts = struct.unpack('<I8I8I8I8', state)
  if last >= 2^53 or last < at or last - now > full or written ~= unit or parts >= unit then
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
  local new = struct.pack('<I8I8I8I8', last, unit, tokens, parts)
  redis.call('SET', key, new, 'PX', expiry(key, last - now + full))
  return 1
end

local function give_back_leaky_bucket(key, check, at, in_line_until)
  local cost, _, gain, unit, empty = struct.unpack('<I8I8I8I8I8', check, 2)
  local state = redis.pcall('GET', key)
  if not state or #state ~= 32 then
    return 0
  end
  local last, written, level, parts = struct.unpack('<I8I8I8I8', state)
  if last >= 2^53 or last < at or last - now > empty or written ~= unit or parts >= unit
    or level >= 2^53 then
    return 0
  end
  if in_line_until and now > in_line_until then
    return 0
  end
  local less, less_parts = cost, 0
  if not in_line_until then
    less, less_parts = still_missing(cost, gain, unit, last - at)
  end
  if less < 0 then
    return 0
  end
  level, parts = level - less, parts - less_parts
  if parts < 0 then
    level, parts = level - 1, parts + unit
  end
  if level < 0 and in_line_until then
    -- Others have left before it, and the line is shorter than its place.
    level, parts = 0, 0
  elseif level < 0 then
    -- The charge is not in there.
    return 0
  end
  local new = struct.pack('<I8I8I8I8', last, unit, level, parts)
  redis.call('SET', key, new, 'PX', expiry(key, last - now + empty))
  return 1
end
