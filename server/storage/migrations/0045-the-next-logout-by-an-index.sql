-- What a hub is told next: by when it is due, then by age. Without it, all that a hub has refused was read at each turn.
create index hub_logout_by_turn on hub_logout (audience, send_after, id);
