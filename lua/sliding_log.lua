-- Decides one call on a sliding log.
--
-- KEYS[1]  the log
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check (lib/sliding_log.lua)
-- Returns  the reply (lib/commit.lua) with a summary of the log

return commit(KEYS[1], true, judge_sliding_log(KEYS[1], ARGV[2]))
