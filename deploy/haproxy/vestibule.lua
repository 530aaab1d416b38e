-- HAProxy asks Vestibule who sent a request. `vestibule-check` sets the identity headers and `txn.vestibule_let_in`, or
-- passes Vestibule's refusal on; for one with a page it sets `txn.vestibule_page`. `txn.vestibule_ask` is the query to ask
-- with, and the environment variable PORTAL says where Vestibule listens.

local portal = "http://" .. os.getenv("PORTAL")
local identity = {
  "x-vestibule-user", "x-vestibule-email", "x-vestibule-customers", "x-vestibule-language", "x-vestibule-token",
}
-- What Vestibule needs to recognise the visitor, their language, and whether a person or a script asks.
local asked = { "host", "cookie", "accept", "accept-language", "user-agent", "sec-fetch-mode", "sec-websocket-key", "origin" }
local passed_on = { "location", "set-cookie", "cache-control", "retry-after" }

local function answer_of(txn)
  local headers = {
    ["x-forwarded-for"] = { txn.f:src() },
    ["x-forwarded-uri"] = { txn.sf:pathq() },
    ["x-forwarded-method"] = { txn.sf:method() },
  }
  local sent = txn.http:req_get_headers()
  for _, name in ipairs(asked) do
    if sent[name] then
      headers[name] = {}
      for index = 0, #sent[name] do headers[name][index + 1] = sent[name][index] end
    end
  end
  -- Over HTTP/2, a WebSocket's handshake has no key, and browsers may leave the mode out.
  if sent["upgrade"] then headers["sec-fetch-mode"] = { "websocket" } end
  local url = portal .. "/portal/session?" .. (txn:get_var("txn.vestibule_ask") or "")
  return core.httpclient():get({ url = url, headers = headers, timeout = 10000 })
end

core.register_action("vestibule-check", { "http-req" }, function(txn)
  local answer = answer_of(txn)
  if answer and answer.status == 200 then
    for _, name in ipairs(identity) do
      local values = answer.headers[name]
      if values and values[0] ~= "" then txn.http:req_set_header(name, values[0]) end
    end
    txn:set_var("txn.vestibule_let_in", true)
    return
  end
  local kind = answer and answer.status == 403 and answer.headers["content-type"]
  if kind and kind[0]:find("text/html", 1, true) then
    txn:set_var("txn.vestibule_page", true)
    return
  end
  -- Without an answer nobody is let in.
  local none = { status = 503, headers = { ["retry-after"] = { [0] = "5" } } }
  local refused = answer and answer.status ~= 0 and answer or none
  -- Without its body, which may be a page larger than HAProxy's buffer.
  local reply = txn:reply({ status = refused.status })
  for _, name in ipairs(passed_on) do
    local values = refused.headers[name]
    if values then for index = 0, #values do reply:add_header(name, values[index]) end end
  end
  txn:done(reply)
end)
