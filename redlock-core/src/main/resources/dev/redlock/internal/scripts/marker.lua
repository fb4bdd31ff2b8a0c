-- Reads the marker that says since when this node has kept its keys, and for which longest lease time it is
-- used; sets it where there is none. The only key without a time to live.
--
-- KEYS  the marker
-- ARGV  longest lease time in ms
--
-- Answers: 1 if it was set just now, longest lease time in ms, since, now (both microseconds of node time).
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call('HMGET', KEYS[1], 'maxLeaseTime', 'since')
local longest, since = tonumber(stored[1]), tonumber(stored[2])
if longest and since then
  return {0, longest, since, now}
end
redis.call('HSET', KEYS[1], 'maxLeaseTime', ARGV[1], 'since', string.format('%.0f', now))
return {1, tonumber(ARGV[1]), now, now}
