-- Part of the scripts that include it: what a client may know of the holder. The lease id is a secret, so it is eight
-- digits of its hash, and the label behind the tilde, if there is one.
--
-- holder  the value of a lock key
-- mark    the result
local mark = string.sub(redis.sha1hex(holder), 1, 8) .. string.sub(string.match(holder, '~[!-}]*$') or '', 1, 193)
