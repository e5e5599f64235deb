-- What a check is told.
--
-- `reply(admitted, state)` returns one string: a byte, 1 if this check alone admits the call; `now`
-- in 8 bytes; and the state after the decision, '' if there is none. All numbers are little-endian.
-- The caller works out from this what remains and how long to wait.
--
-- Needs `now` (time).

local function reply(admitted, state)
  return struct.pack('<BI8', admitted and 1 or 0, now) .. state
end
