-- Sliding log.
--
-- Check: kind, cost, limit, window.
-- State: in the reply: last, sum, blocker. The latest entry is that of the instant `last`, `sum` is
--        what counts, and a refused call fits when the entry of `blocker` (signed) has expired.
-- Value: a list of entries, oldest first: at (7 bytes), before (3), cost (3), and ahead (7) unless
--        that is 0.
--
-- `before` is the running total of the costs in front of an entry. It wraps at 2^24; a log never
-- holds more than 10^6. All entries are as many microseconds ahead of the clock as the newest says,
-- so that all of them can be moved at once when a clock was reset.
--
-- Needs `now` (time). Returns what `commit` takes.

-- When entry `i`, counted from 0, was made, and the total in front of it; nil after the last one.
local function read_entry(key, i)
  local entry = redis.call('LINDEX', key, i)
  if not entry then
    return nil
  elseif #entry < 13 then
    return 0, 0
  end
  return struct.unpack('<I7I3', entry)
end

-- The first entry after entry `low` that passes, given that all after it pass too: its number, and
-- what it says. A galloping search: the entry is mostly near.
local function find_entry(key, low, passes)
  local high, reach, at, before = 2^24, 1, 0, 0
  while high - low > 1 do
    local i = low + reach
    if i >= high then
      i = (low + high) / 2
      i = i - i % 1
    end
    local i_at, i_before = read_entry(key, i)
    if not i_at then
      high = i
    elseif passes(i_at, i_before) then
      high, at, before = i, i_at, i_before
    else
      low, reach = i, 2 * reach
    end
  end
  return high, at, before
end

-- What `commit` calls. A charged call adds an entry and drops the `dropped` oldest ones, or all
-- that is there if that is false; else the newest entry is replaced.
local function write_sliding_log(key, charge, expiry, entry, dropped, newest)
  if charge then
    if not dropped then
      redis.call('DEL', key)
    elseif dropped > 0 then
      redis.call('LTRIM', key, dropped, '-1')
    end
    redis.call('RPUSH', key, entry)
  else
    redis.call('LSET', key, '-1', newest)
  end
  redis.call('PEXPIRE', key, expiry)
end

local function judge_sliding_log(key, check)
  local cost, limit, window = struct.unpack('<I8I8I8', check, 2)
  local t, sum, moved = now, 0, false
  local newest = redis.pcall('LINDEX', key, '-1')
  local last, at, before, own, ahead = 2^53, 0, 0, 0, 0
  if newest and #newest == 13 then
    at, before, own = struct.unpack('<I7I3I3', newest)
    last = at
  elseif newest and #newest == 20 then
    at, before, own, ahead = struct.unpack('<I7I3I3I7', newest)
    last = at - ahead
  end
  local first, first_at, first_before = 0, 0, 0
  if last >= 0 and last < 2^53 then
    if last - now > window then
      last, ahead = now, at - now
      moved = cost > 0 and struct.pack('<I7I3I3I7', at, before, own, ahead)
    elseif last > now then
      t = last
    end
    if t - last < window then
      local edge = t + ahead - window
      first_at, first_before = read_entry(key, '0')
      if first_at <= edge then
        first, first_at, first_before = find_entry(key, 0, function(entry_at)
          return entry_at > edge
        end)
      end
      sum = (before + own - first_before) % 2^24
    end
  end

  local admitted, charged, entry, blocker = cost == 0 or cost <= limit - sum, false, false, last
  if admitted and cost > 0 then
    charged = struct.pack('<I8I8i8', t, sum + cost, t)
    if sum == 0 then
      ahead = 0
    end
    entry = struct.pack('<I7I3I3', t + ahead, (before + own) % 2^24, cost)
    if ahead > 0 then
      entry = entry .. struct.pack('<I7', ahead)
    end
  elseif not admitted and cost <= limit then
    local excess = sum + cost - limit
    blocker = first_at
    if excess > 1 then
      local next = find_entry(key, first, function(_, entry_before)
        return (entry_before - first_before) % 2^24 >= excess
      end)
      blocker = read_entry(key, next - 1)
    end
    blocker = blocker - ahead
  end
  local state = sum > 0 and struct.pack('<I8I8i8', last, sum, blocker) or ''
  local dropped = (sum > 0 or not newest) and first
  return admitted, state, charged, t - now + window, moved and state, window,
    write_sliding_log, entry, dropped, moved
end

