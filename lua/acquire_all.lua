-- Decides a list of calls of any algorithms, all or nothing: if every enforced check admits, every
-- check that admits is charged; else none is.
--
-- KEYS[i]      the state of check i; no two are equal
-- ARGV[1]      the time (lib/time.lua)
-- ARGV[i + 1]  check i (lib/<algorithm>.lua); the kind of a shadow check is in upper case
-- Returns      a list of replies (lib/commit.lua)

local judges = {
  t = judge_token_bucket,
  l = judge_leaky_bucket,
  f = judge_fixed_window,
  s = judge_sliding_log,
  c = judge_sliding_counter,
}

local charge, judged, replies = true, {}, {}
for i, key in ipairs(KEYS) do
  local check = ARGV[i + 1]
  local kind = string.sub(check, 1, 1)
  local lower = string.lower(kind)
  judged[i] = {judges[lower](key, check)}
  if kind == lower and not judged[i][1] then
    charge = false
  end
end
for i, key in ipairs(KEYS) do
  replies[i] = commit(key, charge, unpack(judged[i]))
end
return replies
