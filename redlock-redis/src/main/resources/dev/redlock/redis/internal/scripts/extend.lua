-- Sets the remaining life of a lease to the lease time, on all names or on none. Writes missing keys again.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  lease id, token, lease time, life of the fence key (both in ms)
--
-- The script may write a missing key again only if no later lease has ended. 'ended' distinguishes two cases: the node
-- forgot this lease, or another client had the lock later and has released it.
local id, token = ARGV[1], ARGV[2]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local code, fence = 5, 0
local owned, raise, asked = {}, {}, 0

-- Few commands that read; see acquire, also for the format of the keys.
local values = redis.pcall('MGET', unpack(KEYS))
if values.err then
  return values
end

-- include types.lua
-- include fence_fields.lua

for i = 1, #KEYS, 2 do
  if otherType == i or otherType == i + 1 then
    return {10, now, otherType}
  end
  local owner, known, ended, want, further = values[i], 0, '0', '0', ''
  if values[i + 1] then
    known, ended, want, further = string.match(values[i + 1], fenceFields)
    known = tonumber(known)
    if not known then
      return {10, now, i + 1}
    end
  end
  -- No fence may be further ahead than an acquire could raise it.
  if proposed > known and proposed <= now + 2000000 then
    raise[i] = token .. ':' .. ended .. ':' .. want .. further
  end
  if known > fence then
    fence = known
  end
  local over = tonumber(ended) >= proposed
  if owner == id then
    -- A minimum hold keeps the key of a lease that has ended.
    if over then
      code = 7
    else
      owned[i] = true
    end
  elseif owner then
    if asked < 10 then
      asked = asked + 1
      if redis.call('PTTL', KEYS[i]) == -1 then
        return {10, now, i}
      end
    end
    code = 7
  elseif over then
    code = 7
  elseif code == 5 then
    code = 6
  end
end
if code == 7 then
  return {7, now, fence}
end

local locks = {}
for i = 1, #KEYS, 2 do
  locks[#locks + 1] = KEYS[i]
  if owned[i] then
    redis.call('PEXPIRE', KEYS[i], ARGV[3])
  else
    redis.call('SET', KEYS[i], id, 'PX', ARGV[3])
  end
  if raise[i] then
    redis.call('SET', KEYS[i + 1], raise[i], 'PX', ARGV[4])
    if proposed > fence then
      fence = proposed
    end
  else
    redis.call('PEXPIRE', KEYS[i + 1], ARGV[4])
  end
end
-- The writes above removed the tracking entries; see acquire.
redis.call('EXISTS', unpack(locks))
return {code, now, fence}
