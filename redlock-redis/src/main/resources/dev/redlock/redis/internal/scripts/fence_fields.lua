-- Part of the scripts that include it: the pattern of a fence key; see acquire. A later version may add fields, each
-- behind a colon. A script that writes the fence keeps them.
local fenceFields = '^(%d+):(%d+):([01])%f[:%z]([!-~]*)$'
