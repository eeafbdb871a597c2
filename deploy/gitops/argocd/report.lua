-- Health of what `webhook report` writes for an EnvoyFilter, for Argo CD: of a PolicyReport (wgpolicyk8s.io) and of a Report
-- (openreports.io), which have the same results.
local words = {}
local failed = false
for _, result in ipairs(obj.results or {}) do
  if result.result == "fail" or result.result == "error" then
    failed = true
  end
  if result.result ~= "pass" and result.result ~= "skip" and #words < 3 then
    table.insert(words, (result.policy or "") .. ": " .. (result.message or ""))
  end
end
if obj.results == nil or #obj.results == 0 then
  return { status = "Unknown", message = "the report has no results" }
end
if failed then
  return { status = "Degraded", message = table.concat(words, "; ") }
end
if #words > 0 then
  return { status = "Healthy", message = table.concat(words, "; ") }
end
return { status = "Healthy", message = "no finding" }
