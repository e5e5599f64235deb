-- Refunds a charge of a fixed window, if that is still open.
--
-- Check and state are those of lib/fixed_window.lua; `at` is the instant of the charge. Returns 1,
-- or 0 if the charge stands.
--
-- A window opens with its first charge. If all of its charges are refunded, none has opened it: it
-- is closed, and the next charge opens another. While it has others, it stays as it is, even if the
-- charge that opened it is refunded: when the next of them was made is not known.
--
-- Needs `now` (time), `expiry`.

local function refund_fixed_window(key, check, at)
  local cost, _, window = struct.unpack('<I8I8I8', check, 2)
  local state = redis.pcall('GET', key)
  if not state or #state ~= 24 then
    return 0
  end
  local last, age, count = struct.unpack('<I8I8I8', state)
  if last >= 2^53 or age >= 2^53 or count >= 2^53 or last - now > window
    or at > last or at < last - age or count < cost then
    return 0
  end
  count = count - cost
  if count == 0 then
    -- Older than any window may be. The instant of the latest charge stays.
    age = 2^52
  end
  local new = struct.pack('<I8I8I8', last, age, count)
  redis.call('SET', key, new, 'PX', expiry(key, last - now + window))
  return 1
end
