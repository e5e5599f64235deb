-- Refunds a charge of a sliding log: takes its entry out.
--
-- Check and value are those of lib/sliding_log.lua; `at` is the instant of the charge. Returns 1,
-- or 0 if the charge stands.
--
-- The entries after it say how much is in front of them, and are written again: at most 100. If
-- there are more, the charge stands. Of entries of one instant and one cost any will do.
--
-- Needs `now` (time), `expiry`.

local function refund_sliding_log(key, check, at)
  local cost, _, window = struct.unpack('<I8I8I8', check, 2)
  local entries = redis.pcall('LRANGE', key, '-101', '-1')
  local len = #entries
  local i, last, ahead = len, 2^53, 0
  if len > 0 and #entries[len] == 13 then
    last = struct.unpack('<I7', entries[len])
  elseif len > 0 and #entries[len] == 20 then
    last, ahead = struct.unpack('<I7', entries[len]), struct.unpack('<I7', entries[len], 14)
    last = last - ahead
  end
  if last < 0 or last >= 2^53 or last - now > window then
    return 0
  end
  while true do
    local entry = entries[i]
    if not entry or #entry < 13 then
      return 0
    end
    local made, before, own = struct.unpack('<I7I3I3', entry)
    if made < at + ahead then
      -- It has expired, or was moved when a clock was reset.
      return 0
    elseif made == at + ahead and own == cost then
      break
    end
    before = struct.pack('<I3', (before - cost) % 2^24)
    entries[i] = string.sub(entry, 1, 7) .. before .. string.sub(entry, 11)
    i = i - 1
  end
  local life = expiry(key, last - now + window)
  redis.call('LTRIM', key, '0', i - len - 2)
  if i < len then
    redis.call('RPUSH', key, unpack(entries, i + 1))
  elseif ahead > 0 and i > 1 then
    -- What the newest entry says of the clock holds for those before it.
    local newest = string.sub(entries[i - 1], 1, 13) .. struct.pack('<I7', ahead)
    redis.call('LSET', key, '-1', newest)
  end
  redis.call('PEXPIRE', key, life)
  return 1
end
