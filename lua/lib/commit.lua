-- Writes the state after a call, and makes the reply.
--
-- `commit(key, charge, ...)` takes what a `judge_` function returned: whether the check admits, the
-- stored state, and two states that may replace it, each with the microseconds it is needed for:
--
--   charged  if `charge` says that the whole list admits; false for a check that refuses or costs
--            nothing
--   moved    otherwise: the state that a clock since reset has written, moved back to this clock;
--            false if it has not
--
-- A refused call writes nothing else. A state is the value of its key, unless a function that
-- writes it follows, with its arguments.
--
-- Returns the reply: a byte, 1 if this check alone admits the call; `now` in 8 bytes; and the state
-- after the decision, '' if there is none. The caller works out from this what remains and how long
-- to wait.
--
-- Needs `now` and `spare` (time).

local function commit(key, charge, admitted, state, charged, charged_life, moved, moved_life,
    write, ...)
  charge = charge and charged
  local new, life = moved, moved_life
  if charge then
    new, life = charged, charged_life
  end
  if new then
    -- Rounded up, and within what the server takes: whole milliseconds from 1 to 2^52.
    local expiry = life / 1000
    expiry = expiry - expiry % 1 + 2 + spare
    if expiry > 4e15 then
      expiry = 4e15
    end
    if write then
      write(key, charge, expiry, ...)
    else
      redis.call('SET', key, new, 'PX', expiry)
    end
    state = new
  end
  return struct.pack('<BI8', admitted and 1 or 0, now) .. state
end
