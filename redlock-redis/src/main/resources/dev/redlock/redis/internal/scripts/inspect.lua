-- Replies the holder, the remaining life of its key, and the fence. Changes nothing.
--
-- KEYS  lock key and fence key of each name, in turn
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fence, remaining, holder, asked = 0, -1, nil, 0

-- See acquire, also for the format of the keys.
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
  if values[i + 1] then
    local known = tonumber((string.match(values[i + 1], fenceFields)))
    if not known then
      return {10, now, i + 1}
    end
    fence = math.max(fence, known)
  end
  if values[i] and asked < 10 then
    asked = asked + 1
    local left = redis.call('PTTL', KEYS[i])
    if left == -1 then
      return {10, now, i}
    end
    if left > remaining then
      remaining, holder = left, values[i]
    end
  end
end
if holder then
  -- include mark.lua
  return {2, now, fence, remaining, 0, mark}
end
return {9, now, fence}
