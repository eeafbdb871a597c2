-- Health of what `webhook report` writes for an EnvoyFilter, for Argo CD: of a PolicyReport (wgpolicyk8s.io) and of a Report
-- (openreports.io), which have the same results. A filter that was not checked everywhere is never without a message.
local words = {}
local failed = false
local judged = false
for _, result in ipairs(obj.results or {}) do
  if result.result == "fail" or result.result == "error" then
    failed = true
  end
  if result.result ~= "skip" then
    judged = true
  end
  if result.result ~= "pass" and #words < 3 then
    local policy = result.policy or ""
    if result.result == "skip" then
      table.insert(words, result.message or "not checked")
    else
      table.insert(words, policy .. ": " .. (result.message or ""))
    end
  end
end
if obj.results == nil or #obj.results == 0 then
  return { status = "Unknown", message = "the report has no results" }
end
if failed then
  return { status = "Degraded", message = table.concat(words, "; ") }
end
if not judged then
  return { status = "Unknown", message = table.concat(words, "; ") }
end
if #words > 0 then
  return { status = "Healthy", message = table.concat(words, "; ") }
end
return { status = "Healthy", message = "no findings" }
