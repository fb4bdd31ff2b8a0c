-- Part of the scripts that include it: reads the record of the node set from the marker. A record that lacks a field, or
-- has a number of another form, or no member, is none. Fields that this version does not know remain as they are.
--
-- KEYS    the marker
-- record  name, epoch, members, members of the set before, floor, ballot, promised ballot, longest lease time and that of
--         the set before in ms, since when in us of node time; as text, and the members with a line break between them
local fields = {
  'name', 'epoch', 'members', 'before', 'floor', 'ballot', 'promised', 'maxLeaseTime', 'maxLeaseBefore', 'recordSince'
}
local record = redis.call('HMGET', KEYS[1], unpack(fields))
local complete = record[1] and record[3] and record[3] ~= '' and record[4]
for _, i in ipairs({2, 5, 6, 7, 8, 9, 10}) do
  complete = complete and record[i] and #record[i] < 17 and string.match(record[i], '^%d+$')
end
if not complete then
  record = {'', '0', '', '', '0', '0', '0', '0', '0', '0'}
end
