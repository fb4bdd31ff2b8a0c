-- Puts a process into the queue of the names on this node, or finds it there. Replies whether the process has its turn.
-- If it has, the reply contains the highest token of a lease that has ended, instead of the fence.
--
-- KEYS  wake key and watch key of the process; then, for a lock on several names, the lock keys
-- ARGV  process, arrival in us or 0 for now, patience in us, token that must have ended or 0, life of the queue in ms,
--       queue key, then lock key and fence key of each name, in turn
--
-- The queue is a sorted set of processes, by arrival. The release of the lock writes the wake key of the first, and
-- changes the watch key of the second. This script reads both keys of this process last. So if one of them changes,
-- this node sends an invalidation to this client, and to no other. The value of a wake key is the time at which the
-- turn of the process began, or empty. The value of a watch key is the patience of its own process: a distant process
-- may need more time for its turn than the patience of the processes behind it.
--
-- Both keys exist and expire, so the server forgets that this client has read them. It would remember the read of a
-- missing key until that key is written. The watch key expires first: the process then asks, and both live on.
--
-- The keys in ARGV are not declared: before 7.2 each command that reads makes the server remember all KEYS. The
-- queue only saves time, so it does no harm if a node does not find them.
local process, patience, after = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4])
local queue, first = ARGV[6], 7

-- These writes come before each command that reads. In Redis 6.0, TIME is such a command. Redis 6.0 also ignores
-- NOLOOP in scripts, so it would send the invalidation of the watch key to this client itself.
redis.call('SET', KEYS[1], '', 'PX', ARGV[5] + 10000)
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fence, over, remaining, holder, asked = 0, nil, -1, nil, 0

local values = redis.pcall('MGET', unpack(ARGV, first))
if values.err then
  return values
end
for i = 1, #values, 2 do
  local known, ended, want = string.match(values[i + 1] or '0:0:1', '^(%d+):(%d+):([01])$')
  if not known then
    return {10, now, i + 1}
  end
  fence = math.max(fence, tonumber(known))
  over = math.min(over or tonumber(ended), tonumber(ended))
  if want == '0' then
    redis.call('SET', ARGV[first + i], known .. ':' .. ended .. ':1', 'KEEPTTL')
  end
  if values[i] and asked < 10 then
    asked = asked + 1
    local left = redis.call('PTTL', ARGV[first + i - 1])
    if left == -1 then
      return {10, now, i}
    end
    if left > remaining then
      remaining, holder = left, values[i]
    end
  end
end

local added
if ARGV[2] == '0' then
  added = redis.pcall('ZADD', queue, 'NX', string.format('%.0f', now), process)
else
  added = redis.pcall('ZADD', queue, ARGV[2], process)
end
if type(added) == 'table' then
  return {10, now, #values + 1}
end
redis.call('PEXPIRE', queue, ARGV[5])
local ahead = redis.call('ZRANK', queue, process)

local code = 1
if holder or over < after then
  code = 2
end
while code == 1 and ahead > 0 do
  local head = redis.call('ZRANGE', queue, 0, 0)[1]
  local turn = ARGV[first] .. ':wake:' .. head
  local woken = redis.pcall('GET', turn)
  if not woken or woken == '' then
    redis.pcall('SET', turn, string.format('%.0f', now), 'PX', 60000)
    code = 3
  else
    -- The difference may be negative, because this clock may have been set back.
    local own = tonumber(redis.pcall('GET', ARGV[first] .. ':watch:' .. head)) or 0
    if math.abs(now - (tonumber(woken) or 0)) < math.max(patience, math.min(1000000, own)) then
      code = 3
    end
  end
  if code == 1 then
    redis.call('ZREM', queue, head)
    ahead = ahead - 1
  end
end

if code == 1 then
  redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', 60000)
  return {11, now, over, 0, ahead}
end
redis.call('EXISTS', unpack(KEYS))
if code == 2 then
  -- The lease that must have ended first may be stored on other nodes only.
  holder = holder or ''
  -- include mark.lua
  return {2, now, fence, remaining, ahead, mark}
end
return {3, now, fence, 0, ahead}
