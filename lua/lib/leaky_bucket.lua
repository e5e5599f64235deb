-- Leaky bucket.
--
-- Check: kind, cost, capacity, gain, unit, empty, queue, queue_parts. One permit is `unit` parts,
--        one microsecond leaks `gain` parts, a full bucket is empty after `empty` microseconds
--        (rounded down). A call is refused if the queue in front of it, which is the level before
--        it, is longer than `queue` permits and `queue_parts`.
-- State: last, unit, level, parts. Whole permits and the parts of one more at the instant `last`.
--
-- Needs `now` (time), `muldiv`, `read_bucket` (bucket). Returns what `commit` takes.

local function judge_leaky_bucket(key, check)
  local cost, capacity, gain, unit, empty, queue, queue_parts =
    struct.unpack('<I8I8I8I8I8I8I8', check, 2)
  local t, level, parts, moved = now, 0, 0, false
  local state, last, written, stored, rest = read_bucket(key)
  if last then
    if written ~= unit then
      -- Another rate: the parts are rounded up, in the limiter's favour.
      local more
      rest, more = muldiv(rest, unit, written)
      if more > 0 then
        rest = rest + 1
      end
      if rest == unit then
        stored, rest = stored + 1, 0
      end
    end
    if stored >= capacity then
      stored, rest = capacity, 0
    end
    local ahead = last - now
    if ahead > empty then
      moved = cost > 0 and struct.pack('<I8', now) .. string.sub(state, 9)
      level, parts = stored, rest
    elseif ahead >= 0 then
      t, level, parts = last, stored, rest
    elseif -ahead <= empty then
      level, parts = muldiv(-ahead, gain, unit)
      level, parts = stored - level, rest - parts
      if parts < 0 then
        level, parts = level - 1, parts + unit
      end
      if level < 0 then
        level, parts = 0, 0
      end
    end
  end

  local room = capacity - level
  if parts > 0 then
    room = room - 1
  end
  local is_short = level < queue or (level == queue and parts <= queue_parts)
  local admitted, charged, life = cost == 0 or (cost <= room and is_short), false, 0
  if admitted and cost > 0 then
    level = level + cost
    charged = struct.pack('<I8I8I8I8', t, unit, level, parts)
    life = t - now + (level * unit + parts) / gain
  end
  return admitted, state, charged, life, moved, empty
end
