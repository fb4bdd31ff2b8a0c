-- Part of the scripts that include it, after they have read the time: removes from a queue the processes that have not
-- asked for longer than they said. A second sorted set holds the time until which each process counts as alive, in ms.
-- Returns how many it removed from the queue, some hundred at most, and the member whose time ends first now. A process
-- that was served leaves its sign behind. The member '' is no process; see release.
local function sweep(queue)
  local signs, removed, oldest = queue .. ':alive', 0, nil
  for i = 0, 9 do
    local gone = {}
    oldest = redis.pcall('ZRANGE', signs, 0, i == 0 and 0 or 99, 'WITHSCORES')
    for j = 1, oldest.err and 0 or #oldest, 2 do
      if tonumber(oldest[j + 1]) * 1000 < now then
        gone[#gone + 1] = oldest[j]
      end
    end
    if #gone == 0 then
      break
    end
    redis.pcall('ZREM', signs, unpack(gone))
    local left = redis.pcall('ZREM', queue, unpack(gone))
    removed = removed + (type(left) == 'number' and left or 0)
  end
  return removed, oldest[1]
end
