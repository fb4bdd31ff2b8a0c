-- One step of a request, on the lock key of one name. See fence_key for the other step.
--
-- While a slot of a cluster is moved, the lock key and the fence key of a name can be on different masters for seconds,
-- and Redis then refuses every script that declares both. It still executes a script with one key: each key is on one
-- master at any time, and a missing key belongs to the target. These two scripts declare one key and touch no other.
--
-- KEYS  lock key
-- ARGV  'take', lease id, lease time in ms
--       or 'extend', lease id, lease time in ms
--       or 'release', lease id, how long the key may still live in ms (0: delete)
--       or 'break'
--       or 'read'
local step, id = ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owner = redis.pcall('GET', KEYS[1])
if owner and owner.err then
  return {10, now, 1}
end

local left = -2
if owner and owner ~= id then
  left = redis.call('PTTL', KEYS[1])
  if left == -1 then
    return {10, now, 1}
  end
end

if step == 'take' then
  if not owner then
    redis.call('SET', KEYS[1], id, 'PX', ARGV[3])
    -- The write removed the tracking entry; see acquire.
    redis.call('EXISTS', KEYS[1])
    return {1, now, 0}
  elseif owner == id then
    return {5, now, 0}
  end
elseif step == 'extend' then
  if owner == id then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    redis.call('EXISTS', KEYS[1])
    return {5, now, 0}
  end
  return {owner and 7 or 9, now, 0}
elseif step == 'release' then
  local hold = tonumber(ARGV[3])
  if owner ~= id then
    return {9, now, 0}
  elseif hold == 0 then
    redis.call('DEL', KEYS[1])
  else
    left = redis.call('PTTL', KEYS[1])
    if left == -1 or left > hold then
      redis.call('PEXPIRE', KEYS[1], ARGV[3])
    end
  end
  return {8, now, 0}
elseif step == 'break' then
  return {redis.call('DEL', KEYS[1]) == 1 and 8 or 9, now, 0}
end

if not owner then
  return {9, now, 0}
end
local holder = owner
-- include mark.lua
return {2, now, 0, left, 0, mark}
