-- By what its browser was known when it began a half session that waits for a code by e-mail: the second press of one button
-- ends the first one's, and nobody else's.
alter table session add column browser_hash bytea check (octet_length(browser_hash) = 32);
