-- Decides one call on a token bucket.
--
-- KEYS[1]  the bucket
-- ARGV[1]  the time (lib/time.lua)
-- ARGV[2]  the check (lib/token_bucket.lua)
-- Returns  the reply (lib/commit.lua) with the bucket's state

return commit(KEYS[1], true, judge_token_bucket(KEYS[1], ARGV[2]))
