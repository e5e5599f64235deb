-- Fixed window.
--
-- Check: kind, cost, limit, window.
-- State: last, age, count. At the instant `last` the window had been open for `age`.
--
-- Needs `now` (time). Returns what `commit` takes.

local function judge_fixed_window(key, check)
  local cost, limit, window = struct.unpack('<I8I8I8', check, 2)
  local t, age, count, moved = now, 0, 0, false
  local state = redis.pcall('GET', key)
  local last, old, stored = 2^53, 0, 0
  if state and #state == 24 then
    last, old, stored = struct.unpack('<I8I8I8', state)
  end
  if last < 2^53 and old < 2^53 and stored < 2^53 then
    local ahead = last - now
    if ahead > window then
      moved = cost > 0 and struct.pack('<I8', now) .. string.sub(state, 9)
    elseif ahead >= 0 then
      t = last
    else
      old = old - ahead
    end
    if old < window then
      age, count = old, stored
    end
  else
    state = ''
  end

  local admitted, charged, life = cost == 0 or cost <= limit - count, false, 0
  if admitted and cost > 0 then
    charged = struct.pack('<I8I8I8', t, age, count + cost)
    life = t - now + window - age
  end
  return admitted, state, charged, life, moved, window
end
