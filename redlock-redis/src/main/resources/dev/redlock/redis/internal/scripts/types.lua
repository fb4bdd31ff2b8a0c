-- Part of the scripts that include it, after they have read all KEYS: finds a key of another type.
--
-- values     the values of KEYS
-- otherType  the index of the first key of another type, or nil
--
-- MGET returns nothing for a key of another type, as for a missing key.
local absent, otherType = {}, nil
for i = 1, #KEYS do
  if not values[i] then
    absent[#absent + 1] = KEYS[i]
  end
end
if #absent > 0 and redis.call('EXISTS', unpack(absent)) > 0 then
  local from, to = 1, #absent
  while from < to do
    local middle = math.floor((from + to) / 2)
    if redis.call('EXISTS', unpack(absent, from, middle)) > 0 then
      to = middle
    else
      from = middle + 1
    end
  end
  for i = 1, #KEYS do
    if KEYS[i] == absent[from] then
      otherType = i
    end
  end
end
