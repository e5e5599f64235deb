-- Refunds a charge of a sliding counter, in the sub-window in which it was made.
--
-- Check and state are those of lib/sliding_counter.lua; `at` is the instant of the charge. Returns
-- 1, or 0 if the charge stands.
--
-- A counter is back in its initial state when its newest sub-window is old enough, and that is one
-- in which something was charged. So the newest sub-windows are dropped if nothing is left in them,
-- and `last` moves back with them.
--
-- Needs `now` (time), `muldiv`, `expiry`.

local function refund_sliding_counter(key, check, at)
  local cost, _, window, n = struct.unpack('<I8I8I8I8', check, 2)
  local state = redis.pcall('GET', key)
  if not state or #state ~= 40 + 8 * n then
    return 0
  end
  local last, old_window, old_n, sum = struct.unpack('<I8I8I8I8', state)
  local longest = window + math.floor(window / n)
  if last >= 2^53 or sum >= 2^53 or old_window ~= window or old_n ~= n or last < at
    or last - now > longest then
    return 0
  end

  local _, elapsed = muldiv(last % window, n, window)
  local place, rest = muldiv(last - at, n, window)
  if rest > elapsed then
    place = place + 1
  end
  if place > n then
    return 0
  end
  local count = struct.unpack('<I8', state, 33 + 8 * place)
  if count >= 2^53 or count < cost or (place < n and sum < cost) then
    return 0
  end
  local counts = string.sub(state, 33, 32 + 8 * place) .. struct.pack('<I8', count - cost)
    .. string.sub(state, 41 + 8 * place)
  if place < n then
    sum = sum - cost
  end

  local unused = 0
  while unused <= n and struct.unpack('<I8', counts, 1 + 8 * unused) == 0 do
    unused = unused + 1
  end
  if unused > n and last <= now then
    redis.call('DEL', key)
    return 1
  elseif unused > 0 and unused <= n then
    -- To the last microsecond of the newest sub-window that is used.
    local micros
    micros, rest = muldiv(unused - 1, window, n)
    last = last - micros - math.floor((elapsed + rest) / n) - 1
    sum = sum + struct.unpack('<I8', counts, 1 + 8 * n)
    counts = string.sub(counts, 1 + 8 * unused) .. string.rep('\0', 8 * unused)
  end
  local new = struct.pack('<I8I8I8I8', last, window, n, sum) .. counts
  redis.call('SET', key, new, 'PX', expiry(key, last - now + longest))
  return 1
end
