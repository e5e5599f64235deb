-- Decides nothing: names the commands of the scripts that the user must not run.
--
-- KEYS[1]  a key that no check has, and that this script does not touch. A user who must not use it
--          gets an error
-- ARGV[1]  not read, nor is any other
-- Returns  the names of these commands; none where the server cannot say

local key, lacking = KEYS[1], {}
for _, command in ipairs({
  {'TIME'}, {'GET', key}, {'SET', key, ''}, {'DEL', key}, {'PTTL', key}, {'PEXPIRE', key, '1'},
  {'LINDEX', key, '0'}, {'LRANGE', key, '0', '0'}, {'LSET', key, '0', ''}, {'LTRIM', key, '0', '0'},
  {'RPUSH', key, ''},
}) do
  local known, allowed = pcall(redis.acl_check_cmd, unpack(command))
  if known and not allowed then
    lacking[#lacking + 1] = command[1]
  end
end
return lacking
