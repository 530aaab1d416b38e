-- The visit to a provider that a session came of: an answer that is loaded again leads there in this session alone
-- (docs/decisions/0021). Without a reference: visits are forgotten before sessions end.
alter table session add column visit_id uuid;
-- Each visit has a token of its own, and a browser asks for those that it has out.
create index sso_request_by_browser on sso_request (browser_hash);
