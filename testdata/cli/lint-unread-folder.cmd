lint lint/unread timeout.yaml --select EF0
