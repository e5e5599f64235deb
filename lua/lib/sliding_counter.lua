-- Sliding counter.
--
-- Check: kind, cost, limit, window, n. The window is split into `n` sub-windows.
-- State: last, window, n, sum, and n + 1 counts, one per sub-window, newest first. The newest is
--        that of the instant `last`; `sum` is of all but the oldest.
--
-- Positions within a sub-window are in units of 1/n microsecond: it is `window` of them long.
--
-- Needs `now` (time), `muldiv`. Returns what `commit` takes.

-- What a state that was written at `last` has become at `t`, for a window in `n` sub-windows: the
-- state, of which only the counts are meant, and their sum.
local function carried(state, last, t, window, n)
  local _, old_window, old_n, sum = struct.unpack('<I8I8I8I8', state)
  if old_n ~= n then
    local width, old_width = window / n, old_window / old_n
    if width - width % 1 == old_width - old_width % 1
      and window % n * old_n == old_window % old_n * n then
      -- Sub-windows are as wide as before, there are only more or fewer of them.
      state = string.sub(state .. string.rep('\0', 8 * n), 1, 40 + 8 * n)
      old_window, old_n, sum = window, n, 0
      for i = 0, n - 1 do
        sum = sum + struct.unpack('<I8', state, 33 + 8 * i)
      end
    end
  end

  local elapsed, shift, rest
  _, elapsed = muldiv(last % old_window, old_n, old_window)
  shift, rest = muldiv(t - last, old_n, old_window)
  elapsed = elapsed + rest
  if elapsed >= old_window then
    shift, elapsed = shift + 1, elapsed - old_window
  end
  if shift > old_n then
    state, sum = string.rep('\0', 40 + 8 * old_n), 0
  elseif shift > 0 then
    for i = old_n - shift, old_n - 1 do
      sum = sum - struct.unpack('<I8', state, 33 + 8 * i)
    end
    state = string.rep('\0', 32 + 8 * shift) .. string.sub(state, 33, 40 + 8 * (old_n - shift))
  end

  if old_n ~= n or old_window ~= window then
    -- Another width: what still weighs, rounded up, moves into the current sub-window.
    local weight = struct.unpack('<I8', state, 33 + 8 * old_n)
    weight, rest = muldiv(weight, old_window - elapsed, old_window)
    sum = sum + weight + (rest > 0 and 1 or 0)
    state = string.rep('\0', 32) .. struct.pack('<I8', sum) .. string.rep('\0', 8 * n)
  end
  return state, math.max(sum, 0)
end

local function judge_sliding_counter(key, check)
  local cost, limit, window, n = struct.unpack('<I8I8I8I8', check, 2)
  local width = window / n
  local longest = window + (width - width % 1)
  local t, moved = now, false
  local state = redis.pcall('GET', key)
  local last, old_window, old_n, sum = 2^53, 0, 0, 0
  if state and #state >= 48 then
    last, old_window, old_n, sum = struct.unpack('<I8I8I8I8', state)
  end
  if last < 2^53 and sum < 2^53 and old_window > 0 and old_window <= 2^52 and old_n > 0
    and old_n <= 100 and #state == 40 + 8 * old_n then
    if last - now > longest then
      moved = cost > 0 and struct.pack('<I8', now) .. string.sub(state, 9)
      last = now
    elseif last > now then
      t = last
    end
  else
    state = ''
  end

  local _, elapsed = muldiv(t % window, n, window)
  local current = state
  if state == '' then
    current, sum = string.rep('\0', 40 + 8 * n), 0
  elseif old_window ~= window or old_n ~= n or (t - last) * n > elapsed then
    current, sum = carried(state, last, t, window, n)
  end
  local weight = struct.unpack('<I8', current, 33 + 8 * n)
  weight = muldiv(weight, window - elapsed, window)
  local admitted, charged, life = cost == 0 or cost <= limit - sum - weight, false, 0
  if admitted and cost > 0 then
    local newest = struct.unpack('<I8', current, 33)
    charged = struct.pack('<I8I8I8I8I8', t, window, n, sum + cost, newest + cost)
      .. string.sub(current, 41)
    life = t - now + window + (window - elapsed) / n
  end
  return admitted, state, charged, life, moved, longest
end
