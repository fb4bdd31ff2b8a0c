-- Takes the lock from whoever holds it, on an operator's word.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  token, life of the fence key in ms
--
-- Fence and 'ended' rise to the highest token known, so that the holder, who will ask to extend as soon as it
-- hears of this, is told that a later lease has ended.
local token = ARGV[1]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local code, fence = 9, 0
local top = {}

for i = 1, #KEYS, 2 do
  local owner = redis.pcall('GET', KEYS[i])
  if type(owner) == 'table' then
    if string.find(owner.err, 'WRONGTYPE', 1, true) then
      return {10, now, i}
    end
    return owner
  end
  if owner and redis.call('PTTL', KEYS[i]) == -1 then
    return {10, now, i}
  end
  local stored = redis.pcall('HMGET', KEYS[i + 1], 'fence', 'ended')
  if stored.err then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return {10, now, i + 1}
    end
    return stored
  end
  local known, ended = tonumber(stored[1] or 0) or 0, tonumber(stored[2] or 0) or 0
  top[i] = token
  if known > proposed and known >= ended then
    top[i] = stored[1]
  elseif ended > proposed then
    top[i] = stored[2]
  end
  fence = math.max(fence, known, ended)
end
-- No fence further ahead than an acquire could have put it.
if proposed > now + 2000000 then
  return {4, now, fence}
end
for i = 1, #KEYS, 2 do
  if redis.call('DEL', KEYS[i]) == 1 then
    code = 8
  end
  redis.call('HSET', KEYS[i + 1], 'fence', top[i], 'ended', top[i])
  redis.call('PEXPIRE', KEYS[i + 1], ARGV[2])
end
return {code, now, math.max(fence, proposed)}
