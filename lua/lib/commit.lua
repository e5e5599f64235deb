-- Writes what a judged call leaves behind, where the state is the whole value of the key.
--
-- `commit(key, charge, ...)` takes what a `judge_` function returned: whether the check admits, the
-- stored state, and two states that may replace it, each with the microseconds it is needed for:
--
--   charged  if `charge` says that the whole list admits; false for a check that refuses or costs
--            nothing
--   moved    otherwise: the state without the lead of a clock that is gone; false if there is none
--
-- A refused call writes nothing else. Returns the reply.
--
-- Needs `milliseconds` (expiry), `reply`.

local function commit(key, charge, admitted, state, charged, charged_life, moved, moved_life)
  local new, life = moved, moved_life
  if charge and charged then
    new, life = charged, charged_life
  end
  if new then
    redis.call('SET', key, new, 'PX', milliseconds(life))
    state = new
  end
  return reply(admitted, state)
end
