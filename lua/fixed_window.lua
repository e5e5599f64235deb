-- Decides one call on a fixed window.
--
-- KEYS[1]  the window
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check (lib/fixed_window.lua)
-- Returns  the reply (lib/commit.lua) with the window's state

return commit(KEYS[1], true, judge_fixed_window(KEYS[1], ARGV[2]))
