-- Reads the marker: since when this node has kept its keys, and its longest lease time. Writes the marker if there is
-- none. It is the only key without a time to live.
--
-- KEYS  the marker
-- ARGV  longest lease time in ms; the time of the marker that this client saw here before, or 0; a random id for a
--       new marker; the replication id of a promoted master, or empty; '1' if the client only looks: it writes nothing
--
-- If a client knew an earlier marker, it records this in the new one ("renewed"). Without it, later clients could not
-- distinguish the marker of a server that lost its keys from the first marker of a new server.
-- A master gets a new replication id with each promotion. So the node time at which a client first saw the id here
-- proves how old the last promotion is. The entry of an earlier master came with the replicated data: no proof.
--
-- Replies: 1 if the script has written the marker now, longest lease time in ms, since, now (both microseconds of node
-- time), 1 if it is not the first marker, for how many microseconds the server has provably been a master (0 without
-- proof), id, wire version, then the record of the node set; see
-- record_fields.
--
-- The server sends an invalidation when another client writes the marker later. A write of this script makes the server
-- forget that this client has read the marker, so the record is read last.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.call(
  'HMGET', KEYS[1], 'maxLeaseTime', 'since', 'id', 'renewed', 'master', 'masterSince', 'wire'
)
local longest, since, id = tonumber(stored[1]), tonumber(stored[2]), stored[3]
local set, renewed, masterFor = 0, stored[4] and 1 or 0, 0
local writes = ARGV[5] ~= '1'
if not (longest and since and id) and not writes then
  longest, since, id = 0, 0, ''
elseif not (longest and since and id) then
  longest, since, id, set = tonumber(ARGV[1]), now, ARGV[3], 1
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'maxLeaseTime', ARGV[1], 'since', string.format('%.0f', now), 'id', id, 'wire', '1')
end
local known = tonumber(ARGV[2])
if known ~= 0 and known ~= since and renewed == 0 and writes then
  renewed = 1
  redis.call('HSET', KEYS[1], 'renewed', '1')
end
if ARGV[4] ~= '' then
  if stored[5] == ARGV[4] and set == 0 and tonumber(stored[6]) then
    masterFor = math.max(0, now - tonumber(stored[6]))
  elseif writes then
    redis.call('HSET', KEYS[1], 'master', ARGV[4], 'masterSince', string.format('%.0f', now))
  end
end
-- include record_fields.lua
local wire = set == 1 and 1 or tonumber(string.match(stored[7] or '1', '^%d+$') or '0')
return {set, longest, since, now, renewed, masterFor, id, wire, unpack(record)}
