-- Token bucket.
--
-- Check: kind, cost, capacity, gain, unit, full. One token is `unit` parts, one microsecond brings
--        `gain` parts, an empty bucket is full after `full` microseconds (rounded down).
-- State: last, unit, tokens, parts. Whole tokens and the parts of one more at the instant `last`.
--
-- Needs `now` (time), `muldiv`, `read_bucket` (bucket). Returns what `commit` takes.

local function judge_token_bucket(key, check)
  local cost, capacity, gain, unit, full = struct.unpack('<I8I8I8I8I8', check, 2)
  local t, tokens, parts, moved = now, capacity, 0, false
  local state, last, written, stored, rest = read_bucket(key)
  if last then
    if written ~= unit then
      -- Another rate: the parts are rounded down, in the limiter's favour.
      rest = muldiv(rest, unit, written)
    end
    local ahead = last - now
    if ahead > full then
      moved = cost > 0 and struct.pack('<I8', now) .. string.sub(state, 9)
      tokens, parts = stored, rest
    elseif ahead >= 0 then
      t, tokens, parts = last, stored, rest
    elseif -ahead <= full then
      tokens, parts = muldiv(-ahead, gain, unit)
      tokens, parts = tokens + stored, parts + rest
      if parts >= unit then
        tokens, parts = tokens + 1, parts - unit
      end
    end
    if tokens >= capacity then
      tokens, parts = capacity, 0
    end
  end

  local admitted, charged, life = cost <= tokens, false, 0
  if admitted and cost > 0 then
    tokens = tokens - cost
    charged = struct.pack('<I8I8I8I8', t, unit, tokens, parts)
    life = t - now + ((capacity - tokens) * unit - parts) / gain
  end
  return admitted, state, charged, life, moved, full
end
