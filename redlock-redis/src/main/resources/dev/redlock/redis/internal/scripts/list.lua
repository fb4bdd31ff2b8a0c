-- Lists the locks that one step of a scan finds, or the locks of the given keys. Changes nothing.
--
-- ARGV  'scan', cursor, pattern of the keys, about how many keys to examine
--       or 'inspect', lock keys
--
-- Replies the next cursor (0: the scan is over), then for each lock that is held: lock key, remaining ms, fence, number
-- of processes in its queue, holder mark. See acquire for the keys, and mark for the holder mark.
--
-- The keys are not declared, because only the scan knows them. A key of another type is no lock.
local cursor, found = '0', ARGV
local first = 2
if ARGV[1] == 'scan' then
  local step = redis.call('SCAN', ARGV[2], 'MATCH', ARGV[3], 'COUNT', ARGV[4])
  cursor, found, first = step[1], step[2], 1
end

local reply = {cursor}
for i = first, #found do
  local key = found[i]
  -- Behind the hash tag, a lock key has nothing, or the rest of a name that contains a hash tag. Other keys of the name
  -- have one more colon.
  local rest = string.sub(key, (string.find(key, '}', 1, true) or #key) + 1)
  if rest == '' or string.match(rest, '^:[^:]*{}[^:]*$') then
    local holder = redis.pcall('GET', key)
    -- SCAN also returns the keys of a slot that the master imports, but a script may not read them here.
    local left = type(holder) == 'string' and redis.call('PTTL', key) or -2
    if left >= 0 then
      local stored = redis.pcall('GET', key .. ':fence')
      local fence = type(stored) == 'string' and string.match(stored, '^%d+') or '0'
      local waiting = redis.pcall('ZCARD', key .. ':1:queue')
      reply[#reply + 1] = key
      reply[#reply + 1] = left
      reply[#reply + 1] = fence
      reply[#reply + 1] = type(waiting) == 'number' and waiting or 0
      -- include mark.lua
      reply[#reply + 1] = mark
    end
  end
end
return reply
