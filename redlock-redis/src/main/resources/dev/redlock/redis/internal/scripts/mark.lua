-- Part of the scripts that include it: computes the holder mark, by which a reply describes the holder. The lease id is
-- a secret, so the mark is eight digits of a hash, and the label behind the tilde, if the client has one.
--
-- holder  the value of a lock key
-- mark    the result
local mark = string.sub(redis.sha1hex(holder), 1, 8) .. string.sub(string.match(holder, '~[!-}]*$') or '', 1, 193)
