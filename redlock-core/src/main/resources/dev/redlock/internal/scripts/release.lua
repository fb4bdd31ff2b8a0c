-- Frees what is ours, and makes sure that nothing of this lease can come back.
--
-- KEYS  lock key and fence key of each name, in turn; then the line of the first name, if the process leaves it
-- ARGV  lease id, token, life of the fence key in ms, '1' if this has been a lease ('0': a roll-back),
--       how long the key may live on in ms (0: delete)
--       [, process that leaves the line or '' [, 'SPUBLISH', 'PUBLISH' or 'XADD']]
--
-- The fence is raised even where nothing is ours: a copy of the acquire that arrives after this is refused then.
-- A key of another type is not ours either, and must not keep the other names from being freed.
local id, token, hold = ARGV[1], ARGV[2], tonumber(ARGV[5])
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- No fence further ahead than an acquire could have put it: nobody may lock others out by a release.
local storable = proposed <= now + 2000000
local last = #KEYS - #KEYS % 2
local code, fence, foreign, wanted = 9, 0, nil, 0

for i = 1, last, 2 do
  -- Both reads come before the writes: a read behind them would make the node push to this connection when
  -- the next one comes.
  local owner = redis.pcall('GET', KEYS[i])
  local stored = redis.pcall('HMGET', KEYS[i + 1], 'fence', 'ended', 'wanted')
  if owner == id then
    code = 8
    if hold == 0 then
      redis.call('DEL', KEYS[i])
    else
      local left = redis.call('PTTL', KEYS[i])
      if left == -1 or left > hold then
        redis.call('PEXPIRE', KEYS[i], ARGV[5])
      end
    end
  elseif type(owner) == 'table' and not string.find(owner.err, 'WRONGTYPE', 1, true) then
    return owner
  end
  if stored.err then
    if not string.find(stored.err, 'WRONGTYPE', 1, true) then
      return stored
    end
    foreign = i + 1
  else
    if stored[3] == '1' then
      wanted = 1
    end
    local known, ended = tonumber(stored[1] or 0) or 0, tonumber(stored[2] or 0) or 0
    local raiseEnded = storable and ARGV[4] == '1' and proposed > ended
    if storable and proposed > known then
      known = proposed
      if raiseEnded then
        redis.call('HSET', KEYS[i + 1], 'fence', token, 'ended', token)
      else
        redis.call('HSET', KEYS[i + 1], 'fence', token)
      end
    elseif raiseEnded then
      redis.call('HSET', KEYS[i + 1], 'ended', token)
    end
    redis.call('PEXPIRE', KEYS[i + 1], ARGV[3])
    if known > fence then
      fence = known
    end
  end
end
if ARGV[6] and ARGV[6] ~= '' then
  redis.pcall('HDEL', KEYS[#KEYS], ARGV[6])
end
-- Those who wait are told where they asked for it; only a hint, so no error of it may undo what was done.
-- The stream is no declared key: while a slot moves, a script is refused for any declared key that is not there.
if ARGV[7] and code == 8 then
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
