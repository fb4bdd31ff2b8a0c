-- Deletes the keys of a lease, and ensures that a late request of the lease stores nothing.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  lease id, token, life of the fence key in ms, '1' for a lease or '0' for a roll-back,
--       how long the key may still live in ms (0: delete)
--       [, process that leaves the queue or ''
--       [, 'SPUBLISH', 'PUBLISH' or 'XADD', or ''
--       [, queue key of a lock on several names]]]
--
-- If others want a name that this release frees, or that was free, wakes the first of its queue and warns the second;
-- see enqueue. If more than five processes are queued, wakes the last as well, at most every 250 ms: all processes
-- before it may be dead. It knows that it is far back, so it asks to be queued again. A member '' among the signs of
-- life, see sweep, says that the last was woken.
--
-- Raises the fence even if the lock key has another lease id: the node then refuses an acquire that arrives later.
-- A key of another type must not prevent the release of the other names.
local id, token = ARGV[1], ARGV[2]

-- The script reads everything before its first write: a read after a write would make the node send an invalidation to
-- this connection at the next grant. It uses few commands that read; see acquire, also for the format of the keys.
local values = redis.pcall('MGET', unpack(KEYS))
if values.err then
  return values
end

-- The usual case in three commands: one name, the key and the fence of this lease, and no other client wants it. This
-- reply has no clock reading, because TIME would cost more than the DEL. It is no array, for the same reason.
if
  values[1] == id
  and not KEYS[3]
  and values[2]
  and not ARGV[6]
  and ARGV[5] == '0'
  and ARGV[4] == '1'
  and string.match(values[2], '^(%d+):%d+:0$') == token
then
  redis.call('DEL', KEYS[1])
  redis.call('SET', KEYS[2], token .. ':' .. token .. ':0', 'PX', ARGV[3])
  return 8
end

-- include fence_fields.lua
local hold = tonumber(ARGV[5])
local proposed = tonumber(token)
local last = #KEYS
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- No fence may be further ahead than an acquire could raise it: a release must not lock other clients out.
local storable = proposed <= now + 2000000
local code, fence, foreign, wanted, shorten = 9, 0, nil, 0, nil
local own = ARGV[8] or (KEYS[1] .. ':1:queue')
if ARGV[6] and ARGV[6] ~= '' then
  redis.pcall('ZREM', own, ARGV[6])
  redis.pcall('DEL', KEYS[1] .. ':1:wake:' .. ARGV[6], KEYS[1] .. ':1:watch:' .. ARGV[6])
end
local free, queues = {}, {}
for i = 1, last, 2 do
  local _, _, want = string.match(values[i + 1] or '', fenceFields)
  if want == '1' then
    wanted = 1
    if ARGV[4] == '1' or not values[i] or values[i] == id then
      free[#free + 1] = KEYS[i]
      queues[#queues + 1] = KEYS[i] .. ':1:queue'
    end
  end
end
if ARGV[8] and #queues > 0 then
  free[#free + 1] = KEYS[1]
  queues[#queues + 1] = ARGV[8]
end
-- include sweep.lua
-- A lock on several names mostly finds only its own queue.
local left = #queues
if left > 1 then
  left = redis.call('EXISTS', unpack(queues))
end
local firsts, lasts, woken = {}, {}, {}
for i = 1, #queues do
  firsts[i] = left > 0 and redis.pcall('ZRANGE', queues[i], 0, 5) or {}
  if firsts[i].err or firsts[i][1] then
    left = left - 1
  end
  local removed, oldest = 0, ''
  if firsts[i][1] then
    removed, oldest = sweep(queues[i])
  end
  if removed > 0 then
    firsts[i] = redis.pcall('ZRANGE', queues[i], 0, 5)
  end
  if firsts[i][6] and hold == 0 and (oldest or '') ~= '' then
    lasts[i] = redis.pcall('ZRANGE', queues[i], -1, -1)[1]
  end
  if firsts[i][1] then
    woken[i] = redis.pcall('GET', free[i] .. ':1:wake:' .. firsts[i][1])
  end
end

for i = 1, last, 2 do
  if values[i] == id then
    code = 8
    if hold == 0 then
      redis.call('DEL', KEYS[i])
    else
      -- A lease writes all its keys at once, so the remaining life of the first key is that of all.
      if shorten == nil then
        local left = redis.call('PTTL', KEYS[i])
        shorten = left == -1 or left > hold
      end
      if shorten then
        redis.call('PEXPIRE', KEYS[i], ARGV[5])
      end
    end
  elseif not values[i] then
    -- The server would remember until the next lease that this client has read the missing key.
    local set = redis.pcall('SET', KEYS[i], '', 'PX', 1, 'NX')
    if set and set.ok then
      redis.call('DEL', KEYS[i])
    end
  end
  local known, ended, want, further, missing = 0, '0', '0', '', not values[i + 1]
  if not missing then
    known, ended, want, further = string.match(values[i + 1], fenceFields)
    known = tonumber(known)
  end
  if not known then
    foreign = i + 1
  else
    local raise = storable and proposed > known
    local raiseEnded = storable and ARGV[4] == '1' and proposed > tonumber(ended)
    if raise or raiseEnded then
      local raised = (raise and token or string.match(values[i + 1], '^%d+'))
        .. ':' .. (raiseEnded and token or ended) .. ':' .. want .. further
      if not missing then
        redis.call('SET', KEYS[i + 1], raised, 'PX', ARGV[3])
      elseif not redis.call('SET', KEYS[i + 1], raised, 'PX', ARGV[3], 'NX') then
        -- The key has another type, and MGET returned nothing.
        foreign = i + 1
      end
      if raise and foreign ~= i + 1 then
        known = proposed
      end
    else
      redis.call('PEXPIRE', KEYS[i + 1], ARGV[3])
    end
    if known > fence then
      fence = known
    end
  end
end
-- These keys are not declared. While a slot moves, its master refuses to write keys that it does not have.
for i, first in ipairs(firsts) do
  if first[1] then
    local second = first[1]
    if hold == 0 then
      if not woken[i] or woken[i] == '' then
        redis.pcall('SET', free[i] .. ':1:wake:' .. first[1], string.format('%.0f', now), 'PX', 60000)
      end
      second = first[2]
    end
    if second then
      -- Changes only the time to live, because the value is the patience of the process; see enqueue.
      redis.pcall('PEXPIRE', free[i] .. ':1:watch:' .. second, ARGV[3])
    end
    if lasts[i] then
      -- This is not its turn, so the value stays.
      redis.pcall('PEXPIRE', free[i] .. ':1:wake:' .. lasts[i], 60000)
      redis.pcall('ZADD', queues[i] .. ':alive', string.format('%.0f', math.floor(now / 1000) + 250), '')
    end
  elseif not first.err then
    local empty = queues[i]
    -- include empty.lua
  end
end
-- Publishes a release hint if the client asked for it. An error here must not fail the release.
-- The stream is not a declared key: while a slot moves, Redis rejects a script with a declared key that is missing. The
-- client never sends this script to a master that imports the slot, so there is never a second stream on that master.
if ARGV[7] and ARGV[7] ~= '' and code == 8 then
  for i = 1, last, 2 do
    local to = KEYS[i] .. ':freed'
    if ARGV[7] == 'XADD' then
      redis.pcall('XADD', to, 'MAXLEN', '~', '10', '*', 't', token)
      redis.pcall('PEXPIRE', to, ARGV[3])
    else
      redis.pcall(ARGV[7], to, token)
    end
  end
end
if foreign then
  return {10, now, foreign}
end
if wanted == 1 then
  return {code, now, fence, 0, 1}
end
return {code, now, fence}
