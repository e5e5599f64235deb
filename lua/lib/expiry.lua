-- How long a state is kept.
--
-- `milliseconds(life)` is the expiry of a state that is needed for `life` more microseconds. It is
-- rounded up, and within what the server takes: whole milliseconds from 1 to 2^52.
--
-- Needs `spare` (time).

local function milliseconds(life)
  life = life / 1000
  life = life - life % 1 + 2 + spare
  return life < 4e15 and life or 4e15
end
