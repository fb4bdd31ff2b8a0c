-- One step of a request, on the fence key of one name. See lock_key for the reason, and acquire for the format.
--
-- A grant takes the lock key first and raises the fence second. A release raises the fence first and deletes the lock
-- key second. So the fence refuses the second step of a late grant, or the release undoes the grant.
--
-- KEYS  fence key
-- ARGV  'raise', token, life of the fence key in ms, '1' if the lock key had the lease id before this request
--       or 'extend', token, life of the fence key in ms
--       or 'release', token, life of the fence key in ms, '1' for a lease or '0' for a roll-back
--       or 'break', token, life of the fence key in ms
--       or 'read'
local step, token, life = ARGV[1], ARGV[2], ARGV[3]
local proposed = tonumber(token)
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local stored = redis.pcall('GET', KEYS[1])
if stored and stored.err then
  return {10, now, 1}
end
-- include fence_fields.lua
local fence, ended, want, further = '0', '0', '0', ''
if stored then
  fence, ended, want, further = string.match(stored, fenceFields)
  if not fence then
    return {10, now, 1}
  end
end
local known, rest = tonumber(fence), ':' .. want .. further
-- No fence may be further ahead than an acquire could raise it.
local storable = proposed and proposed <= now + 2000000
local code = 9

if step == 'raise' then
  if ARGV[4] ~= '1' or known ~= proposed then
    if proposed <= known or not storable or proposed < now - 2000000 then
      return {4, now, known}
    end
    redis.call('SET', KEYS[1], token .. ':' .. ended .. rest, 'PX', life)
  end
  code, known = 1, proposed
elseif step == 'extend' then
  if tonumber(ended) >= proposed then
    return {7, now, known}
  elseif proposed > known and storable then
    redis.call('SET', KEYS[1], token .. ':' .. ended .. rest, 'PX', life)
    known = proposed
  else
    redis.call('PEXPIRE', KEYS[1], life)
  end
  return {5, now, known}
elseif step == 'release' then
  local raise = storable and proposed > known
  local raiseEnded = storable and ARGV[4] == '1' and proposed > tonumber(ended)
  if raise or raiseEnded then
    local text = (raise and token or fence) .. ':' .. (raiseEnded and token or ended) .. rest
    redis.call('SET', KEYS[1], text, 'PX', life)
    known = math.max(known, proposed)
  else
    redis.call('PEXPIRE', KEYS[1], life)
  end
  code = 8
elseif step == 'break' then
  if not storable then
    return {4, now, math.max(known, tonumber(ended))}
  end
  local top = token
  if known > proposed and known >= tonumber(ended) then
    top = fence
  elseif tonumber(ended) > proposed then
    top = ended
  end
  redis.call('SET', KEYS[1], top .. ':' .. top .. rest, 'PX', life)
  return {8, now, math.max(known, tonumber(ended), proposed)}
else
  return {9, now, known}
end
if want == '1' then
  return {code, now, known, 0, 1}
end
return {code, now, known}
