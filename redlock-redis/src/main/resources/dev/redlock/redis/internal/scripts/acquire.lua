-- Grants the lock on all names, or on none.
--
-- KEYS  lock key and fence key of each name, in turn
-- ARGV  lease id, token, lease time, life of the fence key (both in ms)
--       [, queue key [, process, arrival in us or 0, patience in us
--       [, '1' if the process has its turn at its home node]]]
--
-- The token must be above every granted token, and within 2 s of this node's clock. A node that lost its keys does not
-- vote for longer than a lease and this window. So it cannot grant a token below one that it granted before.
-- The script stores token arguments unchanged: Lua would print sixteen digits as 1.764e+15.
--
-- A lock key contains the lease id. If the client has a label, it follows behind a tilde.
--
-- A fence key contains three numbers, 'fence:ended:wanted': the highest granted token, the highest token of a lease
-- that has ended (or 0), and 1 if others want the lock: a client was refused since the last grant, or processes are
-- queued on this node. Fields of a later version may follow; see fence_fields.
local id, token, fenceLife = ARGV[1], ARGV[2], ARGV[4]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local inWindow = proposed >= now - 2000000 and proposed <= now + 2000000

-- The usual case in four commands: one name that is free and that no other client wants. This MGET comes after the
-- write of the lock key, so that the node sends an invalidation if another client changes the key; see the end of the
-- script. The reply is the node's time alone, because an array would cost as much as a command.
if inWindow and not ARGV[5] and not KEYS[3] and redis.call('SET', KEYS[1], id, 'NX', 'PX', ARGV[3]) then
  local stored = redis.call('MGET', KEYS[1], KEYS[2])[2]
  if stored then
    local known, ended = string.match(stored, '^(%d+):(%d+):0$')
    if known and tonumber(known) < proposed then
      redis.call('SET', KEYS[2], token .. ':' .. ended .. ':0', 'PX', fenceLife)
      return now
    end
  elseif redis.call('SET', KEYS[2], token .. ':0:0', 'PX', fenceLife, 'NX') then
    return now
  end
  redis.call('DEL', KEYS[1])
end

local last = #KEYS
local fence, remaining, holder, asked, stale, wanted = 0, -1, nil, 0, false, false
local repeated, unmarked, unfenced, ended, further = nil, nil, false, {}, {}

-- The script uses few commands that read: before 7.2 each of them makes the server remember all KEYS for its
-- invalidations. With one such command per name the cost would grow with the square of the number of names.
local values = redis.pcall('MGET', unpack(KEYS, 1, last))
if values.err then
  return values
end

-- include types.lua
-- include fence_fields.lua

for i = 1, last, 2 do
  if otherType == i or otherType == i + 1 then
    return {10, now, otherType}
  end
  local owner, stored, known, before = values[i], nil, 0, '0'
  if not values[i + 1] then
    unfenced = true
  else
    local want
    stored, before, want, further[i] = string.match(values[i + 1], fenceFields)
    if not stored then
      return {10, now, i + 1}
    end
    known = tonumber(stored)
    if want == '1' then
      wanted = true
    else
      unmarked = unmarked or {}
      unmarked[i + 1] = stored .. ':' .. before .. ':1' .. further[i]
    end
  end
  if known > fence then
    fence = known
  end
  ended[i] = before
  -- PTTL is a command that reads (see above). The script calls it for ten keys, and for further keys only until it
  -- has found a holder.
  if owner and (asked < 10 or (owner ~= id and not holder)) then
    asked = asked + 1
    local left = redis.call('PTTL', KEYS[i])
    if left == -1 then
      return {10, now, i}
    end
    if owner ~= id and left > remaining then
      remaining, holder = left, owner
    end
  end
  if owner == id and stored == token then
    repeated = repeated or {}
    repeated[i] = true
  elseif proposed <= known or not inWindow then
    stale = true
  end
end

local code = 1
if holder then
  code = 2
elseif stale then
  code = 4
end

-- include sweep.lua
-- include turn.lua

-- The lock is free for this lease, but others want it: the first of the queue has its turn, see turn. Without this rule
-- a dead process would block the lock if only single tries follow. A process without a place in the queue has a
-- patience of 400 ms. A process that is silent for so long is not just slow, so all others are woken then.
-- A node that lost its fence key lost the mark too, but processes enter the queue there again. Beside a fence without
-- the mark there is no queue: the nodes that are not the home node do not look for one.
-- If this process has set the mark, by entering the queue of this node, the mark says nothing about other processes.
local process, others, left = ARGV[6], 0, false
local queue = ARGV[5] or (KEYS[1] .. ':1:queue')
if code == 1 and (wanted or (process and unfenced)) then
  local size = redis.pcall('ZCARD', queue)
  if type(size) == 'number' and size > 0 then
    local arrival, patience = tonumber(ARGV[7] or '0'), tonumber(ARGV[8] or '400000')
    -- This clock was set back; see enqueue.
    if arrival > now then
      arrival = 0
    end
    local turnLeft, removed =
      turnOfAnother(queue, KEYS[1], process, arrival, patience, process and 4 or 1000, ARGV[9] == '1')
    size = size - removed
    if turnLeft then
      return {3, now, fence, 0, process and redis.call('ZRANK', queue, process) or size}
    end
    if process then
      left = redis.call('ZREM', queue, process) == 1
    end
    others = left and size - 1 or size
  end
  if code == 1 and others == 0 then
    local empty = queue
    -- include empty.lua
  end
end

-- Marks the fence keys as wanted: the next grant or release reports to the holder that another client wants the
-- lock. The mark has the fence's time to live. An error here does no harm.
if code == 2 and unmarked then
  for i, marked in pairs(unmarked) do
    redis.pcall('SET', KEYS[i], marked, 'KEEPTTL')
  end
end

if code == 2 then
  -- include mark.lua
  return {2, now, fence, remaining, 0, mark}
elseif code ~= 1 then
  return {code, now, fence}
end

-- A lock on several names has a separate queue. It keeps the marks of the names while processes are in their queues.
local keep = false
if wanted and last > 2 and others == 0 then
  local queues = {}
  for i = 1, last, 2 do
    if values[i + 1] and not (unmarked and unmarked[i + 1]) then
      queues[#queues + 1] = KEYS[i] .. ':1:queue'
    end
  end
  keep = redis.call('EXISTS', unpack(queues)) > 0
  if not keep then
    for _, empty in ipairs(queues) do
      -- include empty.lua
    end
  end
end
local written = {}
for i = 1, last, 2 do
  local marked = values[i + 1] and not (unmarked and unmarked[i + 1])
  local want = (others > 0 or (keep and marked)) and '1' or '0'
  if not (repeated and repeated[i]) then
    redis.call('SET', KEYS[i], id, 'PX', ARGV[3])
    redis.call('SET', KEYS[i + 1], token .. ':' .. ended[i] .. ':' .. want .. (further[i] or ''), 'PX', fenceLife)
    written[#written + 1] = KEYS[i]
  end
end
-- The writes above removed this connection's tracking entries. This read adds them again, so that the node sends
-- an invalidation if another client deletes a key.
if #written > 0 then
  redis.call('EXISTS', unpack(written))
end
if others == 0 and (left or not wanted) then
  return {1, now, proposed}
end
return {1, now, proposed, 0, math.max(1, others)}
