-- The state of a bucket.
--
-- `read_bucket(key)` returns the state as it is stored, then what it says: last, unit, permits and
-- parts. These are whole permits and the parts of one more at the instant `last`, when a permit was
-- `unit` parts. Without a state, or with one that no script wrote, it returns '' alone.

local function read_bucket(key)
  local state = redis.pcall('GET', key)
  if state and #state == 32 then
    local last, unit, permits, parts = struct.unpack('<I8I8I8I8', state)
    if last < 2^53 and permits < 2^53 and parts < unit and unit <= 2^52 then
      return state, last, unit, permits, parts
    end
  end
  return ''
end
