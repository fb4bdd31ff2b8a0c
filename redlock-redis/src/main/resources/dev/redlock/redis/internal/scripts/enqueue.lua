-- Puts a process into the queue of the names on this node, or finds it there. Replies whether the process has its turn.
-- If it has, the reply contains the highest token of a lease that has ended, instead of the fence.
--
-- KEYS  wake key and watch key of the process; then, for a lock on several names, the lock keys
-- ARGV  process, arrival in us or 0 for now, patience in us, token that must have ended or 0, life of the queue in ms,
--       queue key, for how long the process counts as alive in ms, then lock key and fence key of each name, in turn
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
local queue, life, first = ARGV[6], tonumber(ARGV[7]), 8

-- These writes come before each command that reads. In Redis 6.0, TIME is such a command. Redis 6.0 also ignores
-- NOLOOP in scripts, so it would send the invalidation of the watch key to this client itself.
redis.call('SET', KEYS[1], '', 'PX', ARGV[7] + 10000)
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[7])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fence, over, remaining, holder, asked = 0, nil, -1, nil, 0

local values = redis.pcall('MGET', unpack(ARGV, first))
if values.err then
  return values
end
-- include fence_fields.lua

for i = 1, #values, 2 do
  local known, ended, want, further = string.match(values[i + 1] or '0:0:1', fenceFields)
  if not known then
    return {10, now, i + 1}
  end
  fence = math.max(fence, tonumber(known))
  over = math.min(over or tonumber(ended), tonumber(ended))
  if want == '0' then
    redis.call('SET', ARGV[first + i], known .. ':' .. ended .. ':1' .. further, 'KEEPTTL')
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

-- include sweep.lua
-- include turn.lua

-- A process that died stays in the queue until its sign of life is too old, or until it is silent at its turn.
if redis.pcall('ZADD', queue .. ':alive', string.format('%.0f', math.floor(now / 1000) + life), process) == 1 then
  redis.pcall('PEXPIRE', queue .. ':alive', ARGV[5])
end
sweep(queue)

-- An arrival behind this clock: the clock was set back. With that arrival the process would be behind all that come
-- until then. So it keeps the place that it has, or has arrived now.
local arrival = tonumber(ARGV[2])
if arrival > now then
  local rank = redis.pcall('ZRANK', queue, process)
  local stored = type(rank) == 'number' and redis.call('ZRANGE', queue, rank, rank, 'WITHSCORES')[2]
  arrival = stored and tonumber(stored) > now and now or 0
end
local added
if arrival == 0 then
  added = redis.pcall('ZADD', queue, 'NX', string.format('%.0f', now), process)
else
  added = redis.pcall('ZADD', queue, string.format('%.0f', arrival), process)
end
if type(added) == 'table' then
  return {10, now, #values + 1}
end
redis.call('PEXPIRE', queue, ARGV[5])
local ahead = redis.call('ZRANK', queue, process)

local code, askAgain = 1, 0
if holder or over < after then
  code = 2
elseif ahead > 0 then
  local turnLeft, removed, woke = turnOfAnother(queue, ARGV[first], process, 0, patience, 4, false)
  ahead = redis.call('ZRANK', queue, process)
  if turnLeft then
    code = 3
    -- At the end of a turn that may pass, this process asks again; see turn. A turn that a release began is watched by
    -- the second of the queue.
    if woke or removed > 0 or ahead == 1 then
      askAgain = math.ceil(turnLeft / 1000)
    end
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
return {3, now, fence, askAgain, ahead}
