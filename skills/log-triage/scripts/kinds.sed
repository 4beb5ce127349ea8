# Makes errors of one kind equal: takes away what differs from line to line. For sed -E.
s/^[^ ]+ [A-Z]+ ([^ ]+) request=[^ ]+ /\1: /
s/[0-9]{1,3}(\.[0-9]{1,3}){3}(:[0-9]+)?/IP/g
s/\b[0-9a-f]{8,}\b/ID/g
s/[0-9]+/N/g
