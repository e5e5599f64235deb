-- Decides one call on a sliding counter.
--
-- KEYS[1]  the counter
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check (lib/sliding_counter.lua)
-- Returns  the reply (lib/commit.lua) with the counter's state

return commit(KEYS[1], true, judge_sliding_counter(KEYS[1], ARGV[2]))
