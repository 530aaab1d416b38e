-- When the press of a code opened this session: unlike last_code_at, no later attempt moves it (docs/decisions/0028).
alter table session add column press_at timestamptz;
