-- Switches the node to another version of keys and scripts. For an operator, one node after another.
--
-- KEYS  the marker
-- ARGV  the version
--
-- Nothing is converted. The clients learn of the switch by the invalidation of the marker, and the node stays out as
-- after a loss of its keys. 'wireSince' is for those that connect later.
--
-- Replies 1 if the script has switched the node, or 0: it has this version already, or no marker.
local stored = redis.call('HMGET', KEYS[1], 'id', 'wire')
if not stored[1] or (stored[2] or '1') == ARGV[1] then
  return 0
end
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
redis.call('HSET', KEYS[1], 'wire', ARGV[1], 'wireSince', now)
return 1
