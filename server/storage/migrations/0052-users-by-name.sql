-- The list of users shows the first ones by name, however many there are. Built beforehand (create index concurrently), it is
-- taken as it is.
create index if not exists portal_user_by_name on portal_user (username, id);
