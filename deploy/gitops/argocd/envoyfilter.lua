-- Health of an EnvoyFilter for Argo CD: what istiod says of it in `status` (istiod with PILOT_ENABLE_STATUS or with
-- analysis). Where istiod says nothing, nothing is known, and the message says so.
local status = obj.status or {}
local words = {}
local failed = false
for _, message in ipairs(status.validationMessages or {}) do
  local kind = message["type"] or {}
  table.insert(words, (message.level or "UNKNOWN") .. " " .. (kind.code or "") .. " " .. (kind.name or ""))
  if message.level == "ERROR" then
    failed = true
  end
end
if failed then
  return { status = "Degraded", message = table.concat(words, "; ") }
end
local received = nil
for _, condition in ipairs(status.conditions or {}) do
  if condition["type"] == "Reconciled" then
    if condition.status == "False" then
      return { status = "Progressing", message = condition.message or "not all proxies have it" }
    end
    received = condition.message or "the proxies have it"
  end
end
if #words > 0 then
  return { status = "Healthy", message = table.concat(words, "; ") }
end
if received ~= nil then
  return { status = "Healthy", message = received .. "; its effect is not checked: see its PolicyReport" }
end
return { status = "Healthy", message = "not checked: istiod writes no status; see its PolicyReport" }
