-- Changes the record of the node set in the marker, in one step or not at all. Writes nothing if nothing changes: each
-- write invalidates the marker at all other clients. RecordScript specifies it.
--
-- KEYS  the marker
-- ARGV  'TELL', 'PROMISE', 'OPEN', 'SEAL' or 'FORGET', then the given record without its time; see record_fields
--
-- Replies the record that the marker holds now. A server without a marker has lost its keys since it was probed: it
-- stores nothing, because the next probe must find that.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000000 + time[2])
-- include record_fields.lua
local kind, given = ARGV[1], {unpack(ARGV, 2, 11)}
local epoch, floor, ballot, promised =
  tonumber(record[2]), tonumber(record[5]), tonumber(record[6]), tonumber(record[7])
local newEpoch, newFloor, newBallot, newPromised =
  tonumber(given[2]), tonumber(given[5]), tonumber(given[6]), tonumber(given[7])
local sameId = record[10] == given[10]
local sameSet = sameId and epoch == newEpoch and record[3] == given[3] and tonumber(record[8]) == tonumber(given[8])
local changed = false

-- The floor never falls.
local function raise(to, text)
  if to > floor then
    record[5], record[11], changed = text, now, true
  end
end

local function write(to, text, asBallot, asPromised)
  -- A name that the proposal of another deployment gave does not stay.
  local own = sameId and record[1] ~= '' and record[1] or given[1]
  raise(to, text)
  record = {
    own, given[2], given[3], given[4], record[5], asBallot, asPromised, given[8], given[9], given[10], record[11]
  }
  changed = true
end

-- Whether the set before has this node.
local function wasMember()
  return given[4] ~= '' and string.find('\n' .. given[4] .. '\n', '\n' .. given[1] .. '\n', 1, true) ~= nil
end

if not redis.call('HMGET', KEYS[1], 'id')[1] then
  return record
elseif kind == 'FORGET' then
  if sameId then
    redis.call('DEL', KEYS[1])
    record = {'', '0', '', '', '0', '0', '0', '0', '0', '', '0'}
  end
elseif epoch < 0 or (epoch > 0 and not sameId) then
  -- Of another deployment, or of another version.
  return record
elseif kind == 'TELL' and newEpoch == 0 then
  -- A proposal. With a ballot it ends a split between those of one list: the smallest identity stays.
  local smaller = newBallot > 0 and record[3] == given[3] and given[10] < record[10]
  if epoch == 0 and (record[3] == '' or smaller) then
    record = {given[1], '0', given[3], '', '0', '0', '0', given[8], given[8], given[10], '0'}
    changed = true
  end
elseif kind == 'TELL' then
  -- An open set counts as written by its operator, which the node may have promised to refuse.
  local open = newFloor ~= newEpoch
  local newer = newEpoch > epoch and not (open and newBallot < promised)
  local chosen = epoch == newEpoch and not open and floor ~= epoch and not sameSet
  if newer or chosen then
    -- A member that has lost its record has forgotten whom it has promised to refuse.
    local promise = now
    if epoch > 0 or (open and given[4] ~= '' and not wasMember()) then
      promise = newBallot > promised and given[6] or record[7]
    end
    write(newFloor, given[5], given[6], promise)
  elseif sameSet then
    raise(newFloor, given[5])
    -- An operator has found that the change is complete.
    if not open and given[4] == '' and (record[4] ~= '' or record[9] ~= record[8]) then
      record[4], record[9], changed = '', record[8], true
    end
  end
elseif kind == 'PROMISE' then
  if epoch > 0 and promised < newPromised then
    record[7], changed = given[7], true
  end
elseif kind == 'OPEN' then
  local opens
  if epoch == 0 then
    -- A member that has lost its record gets it by the word of another member first.
    opens = not wasMember()
  else
    local again = epoch == newEpoch and ballot < newBallot and floor ~= epoch
    opens = promised <= newBallot and (epoch < newEpoch or again)
  end
  if opens then
    write(newEpoch - 1, string.format('%.0f', newEpoch - 1), given[6], given[6])
  end
elseif kind == 'SEAL' and sameSet then
  raise(newEpoch, given[2])
end

if changed then
  local values = {}
  for i = 1, #fields do
    values[2 * i - 1], values[2 * i] = fields[i], record[i]
  end
  redis.call('HSET', KEYS[1], unpack(values))
  -- The write has made the server forget that this client has read the marker.
  redis.call('HMGET', KEYS[1], 'id')
end
return record
