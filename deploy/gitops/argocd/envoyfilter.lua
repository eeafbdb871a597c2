-- Health of an EnvoyFilter for Argo CD: what istiod says of it in `status` (istiod with PILOT_ENABLE_STATUS or with
-- analysis). Without a status nothing is known, and the message says so.
local level = nil
local words = {}
if obj.status ~= nil then
  for _, message in ipairs(obj.status.validationMessages or {}) do
    local kind = message["type"] or {}
    table.insert(words, (message.level or "UNKNOWN") .. " " .. (kind.code or "") .. " " .. (kind.name or ""))
    if message.level == "ERROR" or (message.level == "WARNING" and level == nil) then
      level = message.level
    end
  end
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition["type"] == "Reconciled" and condition.status == "False" then
      return { status = "Progressing", message = condition.message or "not all proxies have it" }
    end
  end
end
if level == "ERROR" then
  return { status = "Degraded", message = table.concat(words, "; ") }
end
if level == "WARNING" then
  return { status = "Healthy", message = table.concat(words, "; ") }
end
if obj.status == nil then
  return { status = "Healthy", message = "not checked: istiod writes no status; see its PolicyReport" }
end
return { status = "Healthy", message = "istiod has nothing to say" }
