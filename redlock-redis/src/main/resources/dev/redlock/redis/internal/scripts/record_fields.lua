-- Part of the scripts that include it: reads the record of the node set from the marker. Fields that this version does
-- not know remain as they are.
--
-- KEYS    the marker
-- record  name, epoch, members, members of the set before, floor, ballot, promised ballot, longest lease time and that of
--         the set before in ms, identity of the deployment, since when in us of node time; as text, and the members with
--         a line break between them. Epoch -1: a record that lacks a field, for example the identity, or has a number of
--         another form, or no member. It is not none: it says something that this version does not understand.
local fields = {
  'name', 'epoch', 'members', 'before', 'floor', 'ballot', 'promised', 'maxLeaseTime', 'maxLeaseBefore', 'deployment',
  'recordSince'
}
local record = redis.call('HMGET', KEYS[1], unpack(fields))
local complete = record[1] and record[3] and record[3] ~= '' and record[4] and record[10] and record[10] ~= ''
for _, i in ipairs({2, 5, 6, 7, 8, 9, 11}) do
  complete = complete and record[i] and #record[i] < 17 and string.match(record[i], '^%d+$')
end
if not complete then
  local epoch = (record[2] or record[3]) and '-1' or '0'
  record = {'', epoch, '', '', '0', '0', '0', '0', '0', '', '0'}
end
