-- Says who holds the lock, for how long, and how far the fence is. Changes nothing.
--
-- KEYS  lock key and fence key of each name, in turn
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fence, remaining, holder = 0, -1, nil

for i = 1, #KEYS, 2 do
  local owner = redis.pcall('GET', KEYS[i])
  if type(owner) == 'table' then
    if string.find(owner.err, 'WRONGTYPE', 1, true) then
      return {10, now, i}
    end
    return owner
  end
  local stored = redis.pcall('HGET', KEYS[i + 1], 'fence')
  if type(stored) == 'table' then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return {10, now, i + 1}
    end
    return stored
  end
  fence = math.max(fence, tonumber(stored or 0) or 0)
  if owner then
    local left = redis.call('PTTL', KEYS[i])
    if left == -1 then
      return {10, now, i}
    end
    if left > remaining then
      remaining, holder = left, owner
    end
  end
end
if holder then
  return {2, now, fence, remaining, 0, string.sub(redis.sha1hex(holder), 1, 8)}
end
return {9, now, fence}
