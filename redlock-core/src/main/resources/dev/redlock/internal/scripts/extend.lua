-- Lets a lease live for the lease time from now on, on all names or on none, and sets it again where it is gone.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  lease id, token, lease time, life of the fence key (both in ms)
--
-- A key that is gone may be set again only while no later lease has ended: 'ended' is what tells "the node
-- forgot us" from "somebody had the lock after us and has freed it".
local id, token = ARGV[1], ARGV[2]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local code, fence = 5, 0
local owned, raise = {}, {}

local function refuse(err, index)
  if string.find(err.err, 'WRONGTYPE', 1, true) then
    return {10, now, index}
  end
  return err
end

for i = 1, #KEYS, 2 do
  local owner = redis.pcall('GET', KEYS[i])
  if type(owner) == 'table' then
    return refuse(owner, i)
  end
  local stored = redis.pcall('HMGET', KEYS[i + 1], 'fence', 'ended')
  if stored.err then
    return refuse(stored, i + 1)
  end
  local known, ended = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
  if not known or not ended then
    return {10, now, i + 1}
  end
  -- No fence further ahead than an acquire could have put it.
  if proposed > known and proposed <= now + 2000000 then
    raise[i] = true
  end
  if known > fence then
    fence = known
  end
  if owner == id then
    -- A minimum hold leaves the key of a lease that has ended.
    if ended < proposed then
      owned[i] = true
    else
      code = 7
    end
  elseif owner then
    if redis.call('PTTL', KEYS[i]) == -1 then
      return {10, now, i}
    end
    code = 7
  elseif ended >= proposed then
    code = 7
  elseif code == 5 then
    code = 6
  end
end
if code == 7 then
  return {7, now, fence}
end

for i = 1, #KEYS, 2 do
  if owned[i] then
    redis.call('PEXPIRE', KEYS[i], ARGV[3])
  else
    redis.call('SET', KEYS[i], id, 'PX', ARGV[3])
  end
  if raise[i] then
    redis.call('HSET', KEYS[i + 1], 'fence', token)
    if proposed > fence then
      fence = proposed
    end
  end
  redis.call('PEXPIRE', KEYS[i + 1], ARGV[4])
  -- Tracking is used up by the write above; see acquire.
  redis.call('GET', KEYS[i])
end
return {code, now, fence}
