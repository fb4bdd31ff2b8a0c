-- Part of acquire and enqueue, behind sweep: whether it is the turn of another process in the queue.
--
-- The first of the queue has its turn when its wake key is written. If it is silent for longer than the patience, it
-- loses its place. Many processes behind it may be dead too, and a patience for each of them would close a free lock
-- for longer, the more there are. So the script wakes several processes for each one that was silent. Those that are
-- alive ask to be queued, which deletes their wake keys. All others lose their places at once, one patience later.
--
-- process, arrival  this process or nil, and its arrival or 0: processes behind it do not count
-- patience          how long a process may be silent at its turn, in us, if it does not need longer itself
-- spread            how many processes to wake for each one that was silent
-- elsewhere         this process has its turn at its home node: a queue in which it is not does not count
--
-- Returns for how long the turn of another process may last in us, or nil if there is none; how many processes were
-- removed; and whether others were woken.
local function turnOfAnother(queue, prefix, process, arrival, patience, spread, elsewhere)
  local silent, swept = 0, nil
  while true do
    local head = redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES')
    local first = head[1]
    if
      not first
      or first == process
      or (arrival > 0 and tonumber(head[2]) >= arrival)
      or (elsewhere and not swept and not redis.call('ZRANK', queue, process))
    then
      return nil, silent + (swept or 0), false
    end
    local before = swept
    swept = swept or sweep(queue)
    if before or swept == 0 then
      local own = redis.pcall('GET', prefix .. ':1:watch:' .. first)
      local woken = redis.pcall('GET', prefix .. ':1:wake:' .. first)
      local limit = math.max(patience, math.min(1000000, tonumber(own) or 0))
      -- The difference may be negative, because this clock may have been set back.
      local since = math.abs(now - (tonumber(woken) or 0))
      if not woken or woken == '' then
        local members = silent == 0 and {first} or redis.call('ZRANGE', queue, 0, math.min(spread * silent, 1000) - 1)
        for i = 1, #members do
          if members[i] == process then
            break
          end
          local key = prefix .. ':1:wake:' .. members[i]
          local before = i > 1 and redis.pcall('GET', key)
          if not before or before == '' then
            redis.pcall('SET', key, string.format('%.0f', now), 'PX', 60000)
          end
        end
        return limit, silent + swept, true
      elseif since < limit then
        return limit - since, silent + swept, false
      elseif silent == 1000 then
        return 1000, silent + swept, true
      end
      redis.call('ZREM', queue, first)
      silent = silent + 1
    end
  end
end
