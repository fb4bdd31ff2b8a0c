-- Takes the lock from its holder. For an operator.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  token, life of the fence key in ms
--
-- Raises fence and 'ended' to the highest known token. The holder sends an extend as soon as it receives the
-- invalidation; the node then replies that a later lease has ended.
local token = ARGV[1]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local code, fence = 9, 0
local top, rest = {}, {}

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
  -- Checks each key, unlike acquire, because an operator breaks few names: a key without a time to live is foreign.
  if values[i] and redis.call('PTTL', KEYS[i]) == -1 then
    return {10, now, i}
  end
  local known, ended = 0, 0
  local stored, over, want, further = token, token, '0', ''
  if values[i + 1] then
    stored, over, want, further = string.match(values[i + 1], fenceFields)
    known, ended = tonumber(stored), tonumber(over)
    if not known then
      return {10, now, i + 1}
    end
  end
  rest[i] = ':' .. want .. further
  top[i] = token
  if known > proposed and known >= ended then
    top[i] = stored
  elseif ended > proposed then
    top[i] = over
  end
  fence = math.max(fence, known, ended)
end
-- No fence may be further ahead than an acquire could raise it.
if proposed > now + 2000000 then
  return {4, now, fence}
end
for i = 1, #KEYS, 2 do
  if redis.call('DEL', KEYS[i]) == 1 then
    code = 8
  end
  redis.call('SET', KEYS[i + 1], top[i] .. ':' .. top[i] .. rest[i], 'PX', ARGV[2])
end
return {code, now, math.max(fence, proposed)}
