-- Grants the lock on all names, or on none.
--
-- KEYS  lock key and fence key of each name, in turn; then, in fair mode, the line of the first name
-- ARGV  lease id, token, lease time, life of the fence key (both in ms)
--       [, previous lease id or '', its token [, process, arrival, timeout in ms, '1' to stand in line]]
--
-- The token must lie above all that was granted before, and within two seconds of this node's clock: a node
-- that lost its keys and stayed out for longer than both together cannot grant below what it granted before.
-- Token arguments are stored as they came: Lua would print sixteen digits as 1.764e+15.
local id, token, fenceLife = ARGV[1], ARGV[2], ARGV[4]
local previous = ARGV[5] ~= '' and ARGV[5] or nil
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local inWindow = proposed >= now - 2000000 and proposed <= now + 2000000
local last = #KEYS - #KEYS % 2
local fence, remaining, holder, stale, repeated, wanted, unmarked = 0, -1, nil, false, nil, nil, nil
local endedNow, raiseEnded = previous and tonumber(ARGV[6]), nil

local function refuse(err, index)
  if string.find(err.err, 'WRONGTYPE', 1, true) then
    return {10, now, index}
  end
  return err
end

for i = 1, last, 2 do
  local owner = redis.pcall('GET', KEYS[i])
  if type(owner) == 'table' then
    return refuse(owner, i)
  end
  local read = redis.pcall('HMGET', KEYS[i + 1], 'fence', 'wanted', 'ended')
  if read.err then
    return refuse(read, i + 1)
  end
  local stored = read[1]
  local known = tonumber(stored or 0)
  if not known then
    return {10, now, i + 1}
  end
  if known > fence then
    fence = known
  end
  if read[2] == '1' then
    wanted = wanted or {}
    wanted[i] = true
  elseif stored then
    unmarked = unmarked or {}
    unmarked[#unmarked + 1] = KEYS[i + 1]
  end
  -- The predecessor is over, so its extend must not set the key again; never true of this token itself. Also
  -- where our own extend was faster than this and has stored the key already.
  if endedNow and endedNow < proposed and (tonumber(read[3] or 0) or 0) < endedNow then
    raiseEnded = raiseEnded or {}
    raiseEnded[i] = true
  end
  if owner and owner ~= previous then
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

-- The line: process -> 'arrival:last seen'. Whoever has not been seen for the timeout has left it.
local process, others = ARGV[7], 0
if process then
  local line, timeout = KEYS[#KEYS], ARGV[9] * 1000
  local arrival = tonumber(ARGV[8])
  if arrival == 0 then
    arrival = now
  end
  local entries = redis.pcall('HGETALL', line)
  if entries.err then
    return refuse(entries, #KEYS)
  end
  local headArrival, head, entered
  for i = 1, #entries, 2 do
    local came, seen = string.match(entries[i + 1], '^(%d+):(%d+)$')
    came, seen = tonumber(came), tonumber(seen)
    if not seen or math.abs(now - seen) > timeout then
      redis.call('HDEL', line, entries[i])
    elseif entries[i] == process then
      entered = true
      arrival = math.min(arrival, came)
    else
      others = others + 1
      if not head or came < headArrival or (came == headArrival and entries[i] < head) then
        headArrival, head = came, entries[i]
      end
    end
  end
  if code ~= 2 and head and (headArrival < arrival or (headArrival == arrival and head < process)) then
    code = 3
  end
  if code ~= 1 and ARGV[10] == '1' then
    redis.call('HSET', line, process, string.format('%.0f:%.0f', arrival, now))
    redis.call('PEXPIRE', line, ARGV[9])
  elseif code == 1 and entered then
    redis.call('HDEL', line, process)
  end
end

-- Whoever holds it is told with the next grant or release that somebody else wants it too. Only beside a
-- fence, whose time to live it shares; not worth failing for.
if code == 2 and unmarked then
  for i = 1, #unmarked do
    redis.pcall('HSET', unmarked[i], 'wanted', '1')
  end
end

if code == 2 then
  return {2, now, fence, remaining, others, string.sub(redis.sha1hex(holder), 1, 8)}
elseif code ~= 1 then
  return {code, now, fence, 0, others}
end

for i = 1, last, 2 do
  local raise = raiseEnded and raiseEnded[i]
  if repeated and repeated[i] then
    if raise then
      redis.call('HSET', KEYS[i + 1], 'ended', ARGV[6])
    end
  else
    redis.call('SET', KEYS[i], id, 'PX', ARGV[3])
    if raise then
      redis.call('HSET', KEYS[i + 1], 'fence', token, 'ended', ARGV[6])
    else
      redis.call('HSET', KEYS[i + 1], 'fence', token)
    end
    if wanted and wanted[i] then
      redis.call('HDEL', KEYS[i + 1], 'wanted')
    end
    redis.call('PEXPIRE', KEYS[i + 1], fenceLife)
    -- Our own write has used up this connection's tracking entry; this read makes the node tell us when
    -- somebody deletes the key under us.
    redis.call('GET', KEYS[i])
  end
end
-- In fair mode the line tells, and whoever was refused stands in it.
if wanted and not process then
  others = 1
end
if others == 0 then
  return {1, now, proposed}
end
return {1, now, proposed, 0, others}
