-- Part of the scripts that include it: lets the server forget that this client has read a queue that does not exist.
-- From 7.2 on, a server remembers each key that a script has read until the key is written. Before, it remembers KEYS.
--
-- empty  the queue key
if (redis.REDIS_VERSION_NUM or 0) >= 0x70200 and redis.pcall('ZADD', empty, 1, '') == 1 then
  redis.call('DEL', empty)
end
