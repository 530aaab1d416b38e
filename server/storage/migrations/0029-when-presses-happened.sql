-- When the press of a code opened this session: unlike last_code_at, no later attempt moves it (docs/decisions/0028).
alter table session add column press_at timestamptz;
-- When a link was used: for seconds the same form again is the same press (docs/decisions/0013).
alter table reset_link add column used_at timestamptz;
