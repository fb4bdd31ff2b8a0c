-- Lists the other databases of the server, of the first 16, in which clients with the same key prefix keep locks. Reads
-- only. The client's own database is the one whose marker has the same id.
--
-- KEYS  the marker
local own = redis.call('HMGET', KEYS[1], 'id')[1]
local others = {}
for database = 0, 15 do
  local selected = redis.pcall('SELECT', database)
  local id = not selected.err and redis.call('HMGET', KEYS[1], 'id')[1]
  if id and id ~= own then
    others[#others + 1] = database
  end
end
return others
